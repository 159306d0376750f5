"""Clients of boto3 that are answered here, without a network."""

from __future__ import annotations

from types import SimpleNamespace

import boto3
from botocore.exceptions import ClientError

KEYS = {"aws_access_key_id": "x", "aws_secret_access_key": "x", "region_name": "us-east-1"}


class Service:
    """A service that a function plays; ``client`` is a real client of it.

    Args:
        name: such as ``"ec2"``.
        play: called with the operation's name and the parameters of a call; returns the response,
            or returns or raises what ``error`` makes, or any other exception.

    Attributes:
        client: parameters are checked and put in as by any client; nothing is sent.
        calls: the operation and the parameters of each call, in order.
    """

    def __init__(self, name, play=None):
        self.play = play
        self.calls = []
        self.client = boto3.client(name, **KEYS)
        self.client.meta.events.register("before-parameter-build", _note)
        self.client.meta.events.register("before-call", self._answer)

    def asked(self, parameter):
        """Return what each call had for a parameter."""
        return [params.get(parameter) for _, params in self.calls]

    def _answer(self, model, context, **_):
        params = context["params"]
        self.calls.append((model.name, params))
        response = self.play(model.name, params)
        if isinstance(response, ClientError):
            response = response.response
        elif isinstance(response, Exception):
            raise response
        metadata = {"HTTPStatusCode": 200, **response.get("ResponseMetadata", {})}
        http = SimpleNamespace(status_code=metadata["HTTPStatusCode"])
        return http, {**response, "ResponseMetadata": metadata}


def error(code, message="", status=400):
    """Return an error of a service."""
    response = {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(response, "Operation")


def script(*answers):
    """Return a function that plays the answers in turn, and the last one again and again."""
    left = list(answers)

    def play(operation, params):
        return left.pop(0) if len(left) > 1 else left[0]

    return play


def instances(**states):
    """Return a response of DescribeInstances: each instance, by its id, in a reservation."""
    return {
        "Reservations": [
            {"ReservationId": "r-1", "Instances": [{"InstanceId": each, "State": {"Name": state}}]}
            for each, state in states.items()
        ]
    }


def _note(params, context, **_):
    context["params"] = dict(params)
