"""Requests of EC2's query protocol, read as far as the layer needs them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import parse_qsl

_SCOPE = re.compile(r"Credential=[^/]+/[^/]+/([^/]+)/")
_READS = ("Describe", "Get", "List", "Search")


@dataclass(frozen=True)
class Request:
    """One HTTP request: its parameters come in the body, or in the query of a GET."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @cached_property
    def parameters(self) -> dict[str, str]:
        """All parameters, in the flat form of the wire (``VolumeId.1``)."""
        text = self.query if self.method == "GET" else self.body.decode(errors="replace")
        return dict(parse_qsl(text, keep_blank_values=True))

    @property
    def operation(self) -> str:
        """The operation's name, such as ``DescribeVolumes``; empty if there is none."""
        return self.parameters.get("Action", "")

    @cached_property
    def region(self) -> str:
        """The region that the request was signed for."""
        found = _SCOPE.search(self.headers.get("Authorization", ""))
        return found.group(1) if found else "us-east-1"

    @property
    def is_read(self) -> bool:
        """Whether the operation only reads."""
        return self.operation.startswith(_READS)

    @property
    def is_narrowed(self) -> bool:
        """Whether the request has filters or asks for a page."""
        return any(
            name in ("MaxResults", "NextToken") or name.startswith("Filter.")
            for name in self.parameters
        )

    def listed(self, name: str) -> list[str]:
        """Return a list parameter (``name.1``, ``name.2`` …) in the order of its numbers."""
        prefix = name + "."
        numbered = (
            (key[len(prefix) :], value)
            for key, value in self.parameters.items()
            if key.startswith(prefix)
        )
        ordered = sorted((int(number), value) for number, value in numbered if number.isdigit())
        return [value for _, value in ordered]

    @property
    def filters(self) -> dict[str, list[str]]:
        """The filters: their names, and the values that each accepts."""
        return {
            value: self.listed(f"{key[: -len('.Name')]}.Value")
            for key, value in self.parameters.items()
            if re.fullmatch(r"Filter\.\d+\.Name", key)
        }

    @property
    def ids(self) -> list[str]:
        """Every resource id that the request names in a list or by itself."""
        return [
            value for key, value in self.parameters.items() if re.fullmatch(r"\w+Id(\.\d+)?", key)
        ]
