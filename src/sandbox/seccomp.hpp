#pragma once

#include "support/handles.hpp"

namespace edgegpu {

/// The calls of the kernel that a program of an image, and a tool of the builder that reads hostile
/// files, may not make: mounting, namespaces, modules, bpf, keyrings, tracing, file handles,
/// clocks, raw devices, and network families other than those of this machine. They fail as the
/// kernel lets them fail without privileges, mostly with EPERM. i386 programs of x86-64 are bound
/// by the same; any other ABI (x32) ends the program.
///
/// A new descriptor of the filter as compiled BPF, as `bwrap --seccomp FD` reads it; it is made
/// once per process. Throws Error where it cannot be made: nothing may then be run.
[[nodiscard]] Fd open_call_filter();

}  // namespace edgegpu
