"""The values of AWS parameters: what stands on the command line, as the service's model means it.

A value is, as for the AWS command line, plain text, a list of texts, the shorthand of structures
and maps, JSON, or ``file://path`` (``fileb://path`` for bytes) for what a file holds. In text and
in JSON a blob is base64, as version 2 of that command line has it.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from typing import TYPE_CHECKING, Any, cast

from botocore.model import ListShape, MapShape, StructureShape
from botocore.utils import parse_timestamp

from ...aws._document import elements
from .._arguments import unknown
from .._errors import UsageError
from . import shorthand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from botocore.model import Shape

_COMPLEX = ("structure", "map", "list")
_WHOLE = ("integer", "long")
_NUMBERS = ("float", "double")
_BOOLEANS = {"true": True, "false": False}


def read(shape: Shape, words: Sequence[str]) -> Any:
    """Return the value that some words give to a parameter.

    Args:
        shape: the parameter's, of botocore's model.
        words: the arguments after the option: any number for a list, else one.

    Raises:
        UsageError: they are no such value; the text says where.
    """
    if not isinstance(shape, ListShape):
        return _read(shape, words[0])
    first = load(words[0]) if len(words) == 1 else ""
    if isinstance(first, str) and first.lstrip().startswith("["):
        return typed(shape, from_json(first))
    return [_read(shape.member, word) for word in words]


def load(word: str) -> str | bytes:
    """Return what a word stands for: the content of a file where it says so, else itself.

    Raises:
        UsageError: the file cannot be read.
    """
    for prefix in ("file://", "fileb://"):
        if word.startswith(prefix):
            path = os.path.expandvars(os.path.expanduser(word[len(prefix) :]))
            try:
                with open(path, "rb") as file:
                    content = file.read()
                return content if prefix == "fileb://" else content.decode()
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or error
                raise UsageError(f"cannot read {word}: {reason}") from None
    return word


def from_json(text: str) -> Any:
    """Return a JSON document.

    Raises:
        UsageError: the text is none; it says where.
    """
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(f"no valid JSON: {error}") from None
    except RecursionError:
        raise UsageError("no valid JSON: it is nested too deeply") from None


def typed(shape: Shape, value: Any, where: str = "") -> Any:
    """Return a value from shorthand or JSON with the types that the service's model wants.

    What JSON already gives another type to is left for botocore to judge.

    Raises:
        UsageError: a text that must be a number, say, is none, or a name is unknown.
    """
    if isinstance(shape, StructureShape):
        return _structure(shape, value, where)
    if isinstance(shape, ListShape):
        items = elements(value) or ([] if value == [] else [value])
        return [typed(shape.member, item, f"{where}[{index}]") for index, item in enumerate(items)]
    if isinstance(shape, MapShape):
        entries = _mapping(value, where)
        return {
            key: typed(shape.value, entry, _member(where, key)) for key, entry in entries.items()
        }
    return _scalar(shape, value, where)


def _read(shape: Shape, word: str) -> Any:
    """Return the value that one word gives."""
    content = load(word)
    if not isinstance(content, str) or shape.type_name not in _COMPLEX:
        return typed(shape, content)
    if content.lstrip()[:1] in ("{", "[") or _is_document(shape):
        return typed(shape, from_json(content))
    lone = _lone_member(shape)
    if lone is not None and "=" not in content:
        return typed(shape, {lone: content})
    try:
        return typed(shape, shorthand.parse(content, load))
    except shorthand.ShorthandError as error:
        raise UsageError(str(error)) from None


def _lone_member(shape: Shape) -> str | None:
    """Return the only member of a structure of one text, of which the value alone may be given."""
    if not isinstance(shape, StructureShape) or len(shape.members) != 1:
        return None
    ((name, member),) = shape.members.items()
    return name if member.type_name == "string" else None


def _is_document(shape: Shape) -> bool:
    """Tell whether a shape takes any JSON document."""
    return isinstance(shape, StructureShape) and shape.is_document_type


def _structure(shape: StructureShape, value: Any, where: str) -> Any:
    if shape.is_document_type:
        return value
    fields = _mapping(value, where)
    for name in fields:
        if name not in shape.members:
            kind = f"member of {where}" if where else "member"
            raise unknown(kind, name, shape.members, f"there are {', '.join(shape.members)}")
    return {
        name: typed(shape.members[name], field, _member(where, name))
        for name, field in fields.items()
    }


def _mapping(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(where, "several members, such as Name=x,Values=y,z", value)
    return cast("dict[str, Any]", value)


def _scalar(shape: Shape, value: Any, where: str) -> Any:
    kind = shape.type_name
    if isinstance(value, (list, dict)):
        raise _wrong(where, "one value (quote a value that has a comma in it)", cast("Any", value))
    if kind == "blob":
        return _blob(value, where)
    if isinstance(value, bytes):
        raise _wrong(where, "text (file://, not fileb://)", value)
    return _from_text(kind, value, where) if isinstance(value, str) else value


def _from_text(kind: str, text: str, where: str) -> Any:
    try:
        if kind in _WHOLE:
            return int(text)
        if kind in _NUMBERS:
            return float(text)
        if kind == "timestamp":
            parse_timestamp(text)  # botocore reads it again, in the form that the service takes
    except (ValueError, OverflowError):
        wanted = {"timestamp": "a time, such as 2026-01-31T12:00:00Z"}
        wanted |= dict.fromkeys(_WHOLE, "a whole number") | dict.fromkeys(_NUMBERS, "a number")
        raise _wrong(where, wanted[kind], text) from None
    if kind == "boolean":
        if text.lower() not in _BOOLEANS:
            raise _wrong(where, "true or false", text)
        return _BOOLEANS[text.lower()]
    return text


def _blob(value: Any, where: str) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise _wrong(where, "base64, or fileb://path for the bytes of a file", value) from None


def _member(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _wrong(where: str, wanted: str, value: object) -> UsageError:
    return UsageError(f"{where} must be {wanted}: got {value!r}".lstrip())
