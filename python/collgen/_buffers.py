"""Where the elements of a buffer are, how many they are, and of which type."""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ._calls import BYTES, Type
from ._checks import invalid

# The types of elements by their names in NumPy and ml_dtypes, where these are not ours.
_OTHER_NAMES = {
    "float8_e4m3fn": Type.FLOAT8E4M3,
    "float8_e5m2": Type.FLOAT8E5M2,
    "bool_": Type.BOOL,
}
_NAMES = {t.name.lower(): t for t in Type} | _OTHER_NAMES

# What the formats of package struct are, by kind; how many bytes there are the buffer says.
_FORMATS = {
    **dict.fromkeys("bhilqn", "int"),
    **dict.fromkeys("BHILQN", "uint"),
    **dict.fromkeys("efd", "float"),
    "?": "bool",
    "c": "uint",
    "Zf": "complex",
    "Zd": "complex",
    "F": "complex",
    "D": "complex",
}

# The types of Python's numbers, and a ctypes array for one.
_NUMBERS: dict[type, tuple[Type, str]] = {
    bool: (Type.BOOL, "?"),
    int: (Type.INT64, "q"),
    float: (Type.FLOAT64, "d"),
    complex: (Type.COMPLEX128, "dd"),
}

# The types of elements by dtypes of NumPy that were seen before.
known_types: dict[Any, Type] = {}


def type_of(dtype: Any) -> Type:
    """Returns the type of elements that a Type, a name or a NumPy dtype stands for."""
    if isinstance(dtype, Type):
        return dtype
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or getattr(dtype, "__name__", "")
    found = _NAMES.get(str(name))
    if found is None or not getattr(dtype, "isnative", True):
        order = "" if getattr(dtype, "isnative", True) else " in this byte order"
        raise TypeError(f"elements of {dtype}{order} cannot be sent: want one of {', '.join(sorted(_NAMES))}")
    return found


class Buffer:
    """A buffer of elements. value is the object it is in, and is kept while anybody uses the address."""

    __slots__ = ("address", "count", "keep", "make", "shape", "type", "value")

    def __init__(
        self,
        value: Any,
        address: int,
        count: int,
        type: Type,
        shape: tuple[int, ...],
        make: Callable[[tuple[int, ...]], Buffer],
        keep: Any = None,
    ) -> None:
        self.value = value
        self.address = address
        self.count = count  # of elements
        self.type = type
        self.shape = shape
        self.make = make  # makes another one of the same kind, of a shape
        self.keep = keep

    def result(self) -> Any:
        """Returns what a method returns for the buffer."""
        return self.value


def buffer_of(x: Any, what: str, dtype: Any = None, writable: bool = False) -> Buffer:
    """Returns the buffer in x, which is called what in errors. It is a copy if x is not contiguous and not writable."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if issubclass(type(x), numpy.ndarray):
            return _of_array(x, _plain(x, what, numpy), what, dtype, writable)
        if isinstance(x, numpy.generic) and not writable:
            x = numpy.asarray(x)
            return _of_array(x, x, what, dtype, writable)
    if type(x) in _NUMBERS:
        if writable:
            raise TypeError(f"{what} is a number, want a writable buffer")
        return _Number.of(x, dtype)
    return _of_memory(x, what, dtype, writable)


def _plain(x: Any, what: str, numpy: Any) -> Any:
    """Returns an array itself, or the array in an object of a subclass, which may say anything of itself."""
    if type(x) is numpy.ndarray:
        return x
    masked = sys.modules.get("numpy.ma")
    if masked is not None and isinstance(x, masked.MaskedArray):
        raise TypeError(f"{what} is a masked array, whose mask would be lost: want its data, or what filled returns")
    return numpy.asarray(x)


def _of_array(value: Any, x: Any, what: str, dtype: Any, writable: bool) -> Buffer:
    """Returns the buffer in a NumPy array x, which is that of value."""
    of = x.dtype
    if dtype is not None:
        kind = _meant(of, dtype, what)
    elif of in known_types:
        kind = known_types[of]
    else:
        kind = known_types[of] = type_of(of)
    flags = x.flags
    if not flags.c_contiguous or not flags.aligned:
        if writable:
            raise invalid(f"{what} is not C-contiguous, or not aligned")
        value = x = x.copy(order="C")
    if writable and not flags.writeable:
        raise invalid(f"{what} is read-only")
    try:  # which is the fastest way, for arrays that are writable and not empty
        address = ctypes.addressof(ctypes.c_char.from_buffer(x))
    except (TypeError, ValueError, BufferError):
        address = x.__array_interface__["data"][0]
    return Buffer(value, address, x.size, kind, x.shape, lambda shape: _new_array(shape, of, what, dtype), x)


def _new_array(shape: tuple[int, ...], of: Any, what: str, dtype: Any) -> Buffer:
    """Returns the buffer in a new NumPy array."""
    x = sys.modules["numpy"].empty(shape, of)
    return _of_array(x, x, what, dtype, True)


def _meant(of: Any, dtype: Any, what: str) -> Type:
    """Returns the type that dtype says the elements of a NumPy array have. They are plain numbers, or bytes."""
    kind = type_of(dtype)
    if of.hasobject or of.names is not None or of.kind not in "biufcV" or of.char in "gG":
        raise TypeError(f"{what} has elements of {of}, which cannot be sent as {kind.name.lower()}")
    if not of.isnative:
        raise TypeError(f"{what} has elements of {of} in this byte order, which cannot be sent")
    return _sized(kind, of.itemsize, what)


def _sized(kind: Type, size: int, what: str) -> Type:
    """Returns a type, if its elements have that size."""
    if BYTES[kind] != size:
        raise TypeError(f"{what} has elements of {size} bytes, and {kind.name.lower()} has {BYTES[kind]}")
    return kind


class _Exported(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]


_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = [ctypes.c_void_p]
_release_buffer.restype = None


def _address(view: memoryview) -> int:
    """Returns where the elements of a contiguous view are, which it keeps there."""
    got = _Exported()
    _get_buffer(view, ctypes.addressof(got), 0)
    address = got.buf or 0
    _release_buffer(ctypes.addressof(got))
    return address


def _of_memory(x: Any, what: str, dtype: Any, writable: bool) -> Buffer:
    """Returns the buffer in any object that has one."""
    try:
        view = memoryview(x)
    except TypeError:
        raise TypeError(f"{what} is of {type(x)}, want a NumPy array, a number or an object with a buffer") from None
    if not view.c_contiguous:
        raise invalid(f"{what} is not C-contiguous")
    if writable and view.readonly:
        raise invalid(f"{what} is read-only")
    kind = _type_in(view, what, dtype)
    count = view.nbytes // BYTES[kind]
    shape = tuple(view.shape or ())
    if dtype is not None and view.itemsize != BYTES[kind]:
        shape = (count,)
    address = _address(view)
    if address % _alignment(kind):
        raise invalid(f"{what} is not aligned as {kind.name.lower()} is")
    return Buffer(x, address, count, kind, shape, lambda of: _new_memory(view.format, of, kind, what, dtype), view)


def _alignment(kind: Type) -> int:
    return BYTES[kind] // 2 if kind.name.startswith("COMPLEX") else BYTES[kind]


def _type_in(view: memoryview, what: str, dtype: Any) -> Type:
    """Returns the type of the elements in a view. Bytes may be elements of any type."""
    form = view.format.lstrip("@=" + ("<" if sys.byteorder == "little" else ">"))
    kind = _FORMATS.get(form)
    if kind is None:
        raise TypeError(f"{what} has elements of the format {view.format!r}, which cannot be sent")
    if dtype is not None:
        of = type_of(dtype)
        if kind == "uint" and view.itemsize == 1 and view.nbytes % BYTES[of] == 0:
            return of
        return _sized(of, view.itemsize, what)
    name = "bool" if kind == "bool" else f"{kind}{8 * view.itemsize}"
    if name not in _NAMES:
        raise TypeError(f"{what} has elements of the format {view.format!r}, which cannot be sent")
    return _NAMES[name]


def _new_memory(form: str, shape: Sequence[int], kind: Type, what: str, dtype: Any) -> Buffer:
    """Returns new memory as a memoryview, flat but for a shape of several axes."""
    memory = memoryview(bytearray(math.prod(shape) * BYTES[kind]))
    form = form.lstrip("@=<>")
    if len(form) == 1 and form in "bBhHiIlLqQnNfd?" and dtype is None:
        memory = memory.cast(form)  # type: ignore[call-overload]
    elif dtype is None:
        dtype = kind
    return _of_memory(memory, what, dtype, True)


class _Number(Buffer):
    """Numbers of Python: one, or a list."""

    @classmethod
    def of(cls, x: Any, dtype: Any) -> _Number:
        kind, form = _NUMBERS[type(x)]
        if dtype is not None and type_of(dtype) != kind:
            raise TypeError(f"a number of {type(x)} is sent as {kind.name.lower()}")
        made = cls.new((), kind, form)
        parts = [x.real, x.imag] if form == "dd" else [x]
        try:
            made.keep[: len(parts)] = parts
        except (OverflowError, TypeError) as e:
            raise invalid(f"{x} is no number of 64 bits") from e
        if form == "q" and made.keep[0] != x:
            raise invalid(f"{x} is no number of 64 bits")
        return made

    @classmethod
    def new(cls, shape: tuple[int, ...], kind: Type, form: str) -> _Number:
        n = math.prod(shape)
        element: Any = {"?": ctypes.c_bool, "q": ctypes.c_int64, "d": ctypes.c_double}[form[0]]
        memory = (element * (n * len(form)))()
        return cls(None, ctypes.addressof(memory), n, kind, shape, lambda s: cls.new(s, kind, form), memory)

    def result(self) -> Any:
        numbers = list(self.keep)
        if self.type == Type.COMPLEX128:
            numbers = [complex(a, b) for a, b in zip(numbers[::2], numbers[1::2])]
        return numbers[0] if self.shape == () else numbers
