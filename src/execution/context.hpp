#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <thread>

#include "log/console.hpp"
#include "log/log.hpp"
#include "support/error.hpp"

namespace edgegpu {

/// ostree's own default.
inline constexpr int default_deflate_level = 6;

/// What every stage may use besides its input: the cache, the console, the clock and
/// the cancellation flag. Holds no results.
struct Context {
    /// Root of the cache; each kind of result has a directory of its own below it:
    /// `repos/` (metadata), `packages/` and `imports/` (RPMs and what was in them, by SHA-256),
    /// `content/` (files not from RPMs), `deflate/` (raw deflate streams by SHA-256 of the
    /// content), `bundles/`, `composed/`, `kmods/`, `policy/`, `initramfs/`, `depmod/`,
    /// `verified/`, `keys/`, `logs/`, `locks/` (entries that are being made), `work/` (scratch of
    /// running builds). See docs/architecture.md.
    std::filesystem::path cache;
    /// This build's part of `work/`, below the cache; no other build has it (CacheLock).
    std::filesystem::path slot = "work";
    /// Where the build keeps what programs of an image see besides their root (image/overlay.hpp,
    /// VisibleFiles); empty: in `work()`, whose path they could then read.
    std::filesystem::path visible_files = {};
    /// Where warnings, notes and progress go.
    Console* console = nullptr;
    /// Where decisions, programs and requests go; by default nowhere.
    Log log;
    /// Seconds since 1970, the "now" of everything that enters the image: the
    /// newest build time of the packages, or SOURCE_DATE_EPOCH. 0 until the packages are resolved.
    std::int64_t source_date_epoch = 0;
    /// Set by SIGINT, SIGTERM and SIGHUP.
    const std::atomic<bool>* cancelled = nullptr;
    /// Set when nobody wants the result any more, because work beside it has failed (run_both).
    const std::atomic<bool>* abandoned = nullptr;
    /// No stage may touch the network.
    bool offline = false;
    /// Worker threads for parallel work; at least 1.
    unsigned jobs = 1;
    /// How hard new objects are compressed (commit/deflate_level.hpp).
    int deflate_level = default_deflate_level;
    /// How long a program of an image may run; 0: without limit.
    std::chrono::seconds program_timeout{600};
    /// How long a registry may take for a manifest or a configuration, and for the next byte of a
    /// layer; per attempt.
    std::chrono::seconds registry_timeout{120};
    std::chrono::seconds layer_timeout{300};

    /// The same with another "now".
    [[nodiscard]] Context at(std::int64_t time) const {
        Context other = *this;
        other.source_date_epoch = time;
        return other;
    }

    /// The same with another part of `work/`.
    [[nodiscard]] Context in(const std::filesystem::path& part) const {
        Context other = *this;
        other.slot = part;
        return other;
    }

    /// The scratch directory of this build.
    [[nodiscard]] std::filesystem::path work() const { return cache / slot; }

    /// The scratch directory for files that are mounted into the root of an image.
    [[nodiscard]] std::filesystem::path visible() const {
        return visible_files.empty() ? work() : visible_files;
    }

    /// Throws ErrorKind::interrupted if the user asked to stop, or the result is abandoned. Call it
    /// in every long loop.
    void check_cancelled() const {
        for (const std::atomic<bool>* flag : {cancelled, abandoned}) {
            if (flag != nullptr && flag->load(std::memory_order_relaxed)) {
                throw Error(ErrorKind::interrupted, "interrupted");
            }
        }
    }

    /// Waits for this long, unless check_cancelled() throws meanwhile.
    void pause(std::chrono::milliseconds time) const {
        constexpr std::chrono::milliseconds slice{50};
        for (; time.count() > 0; time -= slice) {
            check_cancelled();
            std::this_thread::sleep_for(std::min(time, slice));
        }
    }
};

}  // namespace edgegpu
