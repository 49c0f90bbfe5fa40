#pragma once

#include "support/handles.hpp"

namespace edgegpu {

/// What a program may open beside what the filter lets every program.
enum class MoreCalls {
    none,
    /// netlink sockets of netfilter, without which nft reads no rules. Without CAP_NET_ADMIN, which
    /// no program has, the kernel refuses whatever is sent through them.
    netfilter_sockets
};

/// The system call filter for programs of an image, and for tools of the builder that read
/// untrusted files. It denies mounts, namespaces, kernel modules, bpf, keyrings, tracing, file
/// handles, clocks, raw devices, and network families other than unix, IP and netlink (routing),
/// mostly with EPERM, as for unprivileged callers. i386 programs on x86-64 have the same
/// restrictions; calls of any other ABI (x32) kill the program.
///
/// Returns a new descriptor of the filter as compiled BPF, for `bwrap --seccomp FD`. Throws Error
/// if it cannot be created; nothing may then be run.
[[nodiscard]] Fd open_call_filter(MoreCalls more);

}  // namespace edgegpu
