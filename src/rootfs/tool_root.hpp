#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "execution/context.hpp"
#include "image/tree.hpp"
#include "rootfs/package_graph.hpp"
#include "rootfs/workplace.hpp"
#include "sandbox/sandbox.hpp"

namespace edgegpu {

/// What some tools of an image need of it. Each question is asked about paths of files and links of
/// the image, and must always get the same answer.
struct ToolNeeds {
    /// A file name in the slot of the build, for Workplace.
    std::string name;
    /// Whether a program of the tools: its package is in the root, with all that it requires.
    std::function<bool(std::string_view)> runs;
    /// Whether a program that the tools look for or copy: its package is in the root, with the
    /// libraries and interpreters that it requires.
    std::function<bool(std::string_view)> uses;
    /// Whether another file that the tools look for or read: it alone is in the root, with the
    /// libraries and interpreters that its package requires.
    std::function<bool(std::string_view)> reads;
    /// Whether it is not in the root, whoever brought it, because the tools make it.
    std::function<bool(std::string_view)> hidden;
    /// Files that are in the root in place of the image's own.
    Entries instead;
};

/// A root in which tools of an image make results that other builds take from the cache: a part of
/// the image, whose digest is in the key of the results. Programs in it see nothing else of the
/// image, of its scriptlets or of the build (time, running kernel, times of files), so that their
/// results are a function of the key, whatever they execute, load, read or look for.
///
/// The files are as scriptlets and the blueprint left them, with links that lead to them. What a
/// program needs that a scriptlet or the blueprint changed, or a binary that no package brings,
/// nobody says: if one of these is chosen, the root is the whole image, but for what is hidden.
class ToolRoot {
public:
    /// Chooses the files; nothing is made yet. `image` is the tree that `graph` belongs to, with
    /// everything that the blueprint adds.
    ToolRoot(const Context& ctx, const Tree& image, const PackageGraph& graph,
             const ToolNeeds& needs);
    ToolRoot(const ToolRoot&) = delete;
    ToolRoot& operator=(const ToolRoot&) = delete;
    ~ToolRoot() = default;

    /// Digest of paths, types, modes, owners, contents, targets and capabilities of all files that
    /// were chosen, with those of ToolNeeds::instead.
    [[nodiscard]] const std::string& digest() const noexcept { return digest_; }
    /// The files that were chosen, and those that were added since.
    [[nodiscard]] const Tree& tree() const noexcept { return tree_; }
    /// Adds or replaces a file, which `digest` does not cover. Not while a program runs.
    void add(std::string_view path, const Entry& entry);

    /// Runs a program of the image in the root, which is made before the first one, with an
    /// ld.so.cache of its own. Sets `root` and the time of `command`. Thread-safe. For the rest see
    /// run_in_sandbox.
    [[nodiscard]] ProcessResult run(SandboxCommand command);
    /// Copies what programs changed to the files (sync_tree). Not while a program runs.
    void sync();

private:
    void mount();

    Context ctx_;
    std::string name_;
    Tree tree_;
    std::string digest_;
    std::mutex mutex_;
    std::optional<Workplace> place_;
};

}  // namespace edgegpu
