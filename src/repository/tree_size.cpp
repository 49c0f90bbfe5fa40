#include "repository/tree_size.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

std::uint64_t sum(std::uint64_t one, std::uint64_t other) {
    std::uint64_t result = 0;
    return __builtin_add_overflow(one, other, &result) ? std::numeric_limits<std::uint64_t>::max()
                                                       : result;
}

std::uint64_t product(std::uint64_t one, std::uint64_t other) {
    std::uint64_t result = 0;
    return __builtin_mul_overflow(one, other, &result) ? std::numeric_limits<std::uint64_t>::max()
                                                       : result;
}

/// What is below a directory, relative to it.
struct Extent {
    std::uint64_t paths = 0;
    std::uint64_t longest = 0;
    std::uint64_t bytes = 0;

    /// Adds an entry, and what is below it.
    void add(std::size_t name, const Extent& below) {
        const std::uint64_t step = name + 1;
        paths = sum(paths, sum(below.paths, 1));
        longest = std::max(longest, sum(below.longest, step));
        bytes = sum(bytes, sum(below.bytes, product(step, sum(below.paths, 1))));
    }
};

Error too_large(const CommitView& commit, std::string_view what) {
    return error("commit {}: its tree has {}", commit.info().name, what)
        .hinted("no image has: where does this commit come from?");
}

class Measure {
public:
    Measure(const Context& ctx, const CommitView& commit, const TreeLimits& limits)
        : ctx_(ctx), commit_(commit), limits_(limits) {}

    /// No recursion: the depth is somebody else's.
    Extent of_root() {
        open(commit_.root().checksum, "");
        while (true) {
            Open& last = open_.back();
            if (last.at == last.entries.end()) {
                known_[last.checksum] = last.extent;
                const Extent done = last.extent;
                open_.pop_back();
                if (open_.empty()) {
                    return done;
                }
                step(done);
            } else if (!last.at->second.directory) {
                step({});
            } else if (const auto found = known_.find(last.at->second.checksum);
                       found == known_.end()) {
                open(last.at->second.checksum, last.path + '/' + last.at->first);
            } else if (found->second) {
                step(*found->second);
            } else {
                throw commit_.malformed(last.path, "a directory is in itself");
            }
        }
    }

private:
    struct Open {
        std::string checksum;
        std::string path;
        CommitDirectory entries;
        CommitDirectory::const_iterator at;
        Extent extent;
    };

    void open(const std::string& checksum, std::string path) {
        ctx_.check_cancelled();
        if (path.size() > limits_.longest_path) {
            throw too_large(commit_,
                            fmt::format("paths of more than {} bytes", limits_.longest_path));
        }
        known_.emplace(checksum, std::nullopt);
        CommitDirectory entries = commit_.list({true, checksum, ""}, path.empty() ? "/" : path);
        open_.push_back({checksum, std::move(path), std::move(entries), {}, {}});
        open_.back().at = open_.back().entries.begin();
    }

    void step(const Extent& below) {
        Open& last = open_.back();
        last.extent.add(last.at->first.size(), below);
        ++last.at;
    }

    const Context& ctx_;
    const CommitView& commit_;
    const TreeLimits& limits_;
    std::deque<Open> open_;
    /// by the checksum of the dirtree; nothing while it is open
    std::unordered_map<std::string, std::optional<Extent>> known_;
};

}  // namespace

void require_walkable(const Context& ctx, const CommitView& commit, const TreeLimits& limits) {
    const Extent extent = Measure(ctx, commit, limits).of_root();
    if (extent.paths > limits.paths) {
        throw too_large(commit, fmt::format("more than {} paths", limits.paths));
    }
    if (extent.longest > limits.longest_path) {
        throw too_large(commit, fmt::format("paths of more than {} bytes", limits.longest_path));
    }
    if (extent.bytes > limits.path_bytes) {
        throw too_large(commit,
                        fmt::format("paths of more than {}", human_size(limits.path_bytes)));
    }
}

}  // namespace edgegpu
