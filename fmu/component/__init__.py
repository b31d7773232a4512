"""WebAssembly components: binaries for FMI 3.0 by the working draft of the layered standard for WebAssembly."""

from .build import build as build
