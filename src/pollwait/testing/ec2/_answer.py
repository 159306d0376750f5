"""Answers in EC2's XML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import uuid4
from xml.sax.saxutils import escape

_NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"
_PROLOGUE = '<?xml version="1.0" encoding="UTF-8"?>\n'


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer; ``error`` is its error code, if it is one."""

    body: bytes
    status: int = 200
    error: str | None = None
    content_type: str = "text/xml;charset=UTF-8"


class RefusedError(Exception):
    """The request is answered with an error."""

    def __init__(self, code: str, message: str, *, status: int = 400) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.status = status

    def answer(self) -> Answer:
        """Return the answer that says so."""
        body = (
            f"{_PROLOGUE}<Response><Errors><Error>"
            f"{element('Code', self.code)}{element('Message', self.message)}"
            f"</Error></Errors>{element('RequestID', uuid4())}</Response>"
        )
        return Answer(body.encode(), self.status, self.code)


def success(operation: str, content: str) -> Answer:
    """Return the answer of an operation; ``content`` is XML."""
    name = f"{operation}Response"
    request_id = element("requestId", uuid4())
    body = f'{_PROLOGUE}<{name} xmlns="{_NAMESPACE}">{request_id}{content}</{name}>'
    return Answer(body.encode())


def element(name: str, value: object) -> str:
    """Return an element with text; empty for None, and in lower case for a bool."""
    if value is None:
        return ""
    text = str(value).lower() if isinstance(value, bool) else escape(str(value))
    return f"<{name}>{text}</{name}>"


def items(name: str, contents: Iterable[str]) -> str:
    """Return a list; each of ``contents`` is the XML of one item."""
    return f"<{name}>{''.join(f'<item>{content}</item>' for content in contents)}</{name}>"
