"""What can be said of a callable without calling it: its name, and kinds that cannot be polled."""

from __future__ import annotations

from functools import partial
from types import (
    AsyncGeneratorType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MethodType,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable
    from typing import Any, TypeVar

    from typing_extensions import TypeIs

    T = TypeVar("T")

# Flags of code objects, as `inspect` documents them.
_GENERATOR = 0x20
_COROUTINE = 0x80
_ITERABLE_COROUTINE = 0x100
_ASYNC_GENERATOR = 0x200

AIO_POLL = "pollwait.poll awaits nothing, use pollwait.aio.poll"

PLAIN = frozenset((bool, str, int, float, bytes, dict, list, tuple, type(None)))
"""Types of most results, of which one look tells that they need not be awaited."""


def describe(function: Any) -> str:
    """Name a callable for people: never fails, and tells one lambda from another by its place."""
    function = _inner(function)
    if isinstance(function, FunctionType) and function.__name__ == "<lambda>":
        path = function.__code__.co_filename.replace("\\", "/")
        return f"lambda at {path.rpartition('/')[2]}:{function.__code__.co_firstlineno}"
    try:
        qualified, name = function.__qualname__, function.__name__
    except Exception:  # no function, or one behind a proxy that answers as it likes
        return type(function).__qualname__
    if not (isinstance(qualified, str) and isinstance(name, str)):
        return type(function).__qualname__
    # The methods of boto3 clients, for one, are named after they are made; their name is the truth.
    return qualified if qualified.rpartition(".")[2] == name else name


def refuse_generator_function(function: object, what: str) -> None:
    """Raise TypeError for what cannot be called, and for a generator function.

    Calling a generator function runs none of its body, so such a check would look ready at once.
    """
    if not callable(function):
        raise TypeError(f"{what} must be callable: got {function!r}")
    flags = _flags(function)
    if flags & (_GENERATOR | _ASYNC_GENERATOR) and not flags & _ITERABLE_COROUTINE:
        raise TypeError(
            f"{what} must return its value: {describe(function)!r} is a generator function,"
            " and calling it runs none of its body"
        )


def refuse_coroutine_function(function: object, what: str) -> None:
    """Raise TypeError for what is written to be awaited, before it is ever called."""
    if is_coroutine_function(function):
        raise TypeError(f"{what} {describe(function)!r} is async: {AIO_POLL}")


def is_coroutine_function(function: object) -> bool:
    """Tell whether a callable is written as a coroutine function, the old way or by ``async``."""
    return bool(_flags(function) & (_COROUTINE | _ITERABLE_COROUTINE))


def is_plain_function(function: object) -> bool:
    """Tell whether a callable is written in Python and gives nothing to await."""
    return isinstance(_inner(function), FunctionType) and not is_coroutine_function(function)


def refuse_unfinished(answer: T, what: str, instead: str = AIO_POLL) -> T:
    """Return an answer, or raise TypeError if somebody would have to await or to run it first.

    Args:
        answer: what was returned.
        what: which function returned it.
        instead: what to do about an awaitable.
    """
    if is_awaitable(answer):
        close_coroutine(answer)
        raise TypeError(f"{what} returned an awaitable ({type(answer).__name__}): {instead}")
    return refuse_generator(answer, what)


def refuse_generator(answer: T, what: str) -> T:
    """Return an answer, or raise TypeError for a generator, of whose body nothing has run."""
    if isinstance(answer, (GeneratorType, AsyncGeneratorType)):
        raise TypeError(
            f"{what} returned a generator ({describe(answer)!r}), of whose body nothing has run"
        )
    return answer


def close_coroutine(answer: object) -> None:
    """Close a coroutine that nobody will await, lest it warn; leave other awaitables alone."""
    if isinstance(answer, (CoroutineType, GeneratorType)):
        answer.close()


def is_awaitable(answer: object) -> TypeIs[Awaitable[Any]]:
    """Tell whether ``await`` would take an object."""
    if isinstance(answer, GeneratorType):
        return bool(answer.gi_code.co_flags & _ITERABLE_COROUTINE)
    return hasattr(type(answer), "__await__")


def _flags(function: object) -> int:
    function = _inner(function)
    if not isinstance(function, FunctionType):
        function = getattr(type(function), "__call__", None)  # noqa: B004 - its code is wanted
    return function.__code__.co_flags if isinstance(function, FunctionType) else 0


def _inner(function: Any) -> object:
    """Look through partials and bound methods."""
    while True:
        if isinstance(function, partial):
            function = function.func
        elif isinstance(function, MethodType):
            function = function.__func__
        else:
            return function
