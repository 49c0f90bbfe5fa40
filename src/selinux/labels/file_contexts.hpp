#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "image/tree.hpp"

namespace edgegpu::selinux {

/// A policy's file contexts, indexed so that a look-up tries only the few expressions that can fit.
///
/// The answers are those of selabel_lookup(3) (libselinux's label_file.c), which tries every
/// expression of the policy: expressions without metacharacters come last, the last that fits wins,
/// the part before the second '/' is compared as text, the rest is a PCRE pattern between '^' and
/// '$'. Members may be called from any thread.
class FileContexts {
public:
    /// Reads `file` (file_contexts(5)) and, where they exist, those beside it whose names go on
    /// with
    /// ".homedirs", ".local" (more expressions), ".subs" and ".subs_dist" (other names of
    /// directories). Compiled ".bin" files are left alone: the text is what everybody agrees on.
    /// Throws Error "FILE:LINE: …" for a line that is none.
    explicit FileContexts(const std::filesystem::path& file);
    FileContexts(FileContexts&&) noexcept;
    FileContexts& operator=(FileContexts&&) noexcept;
    ~FileContexts();

    /// The context of an absolute, normalised path; empty where the policy has none for it
    /// ("<<none>>" or no expression fits). Throws Error naming the expression that is no pattern.
    [[nodiscard]] std::string look_up(std::string_view path, EntryType type) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace edgegpu::selinux
