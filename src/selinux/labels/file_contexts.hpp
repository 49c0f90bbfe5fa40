#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "image/tree.hpp"

namespace edgegpu::selinux {

/// A policy's file contexts, indexed so that a look-up tries only the few expressions that may
/// match.
///
/// Results are those of selabel_lookup(3) (libselinux's label_file.c), which tries all expressions:
/// those without metacharacters come last, the last match wins, the part before the second '/' is
/// compared as text, the rest is a PCRE pattern between '^' and '$'. Thread-safe.
class FileContexts {
public:
    /// Reads `file` (file_contexts(5)) and, if they exist, the files with the suffixes ".homedirs"
    /// and ".local" (more expressions), ".subs" and ".subs_dist" (aliases of directories); no
    /// compiled ".bin" files. Throws Error "FILE:LINE: …" for a malformed line.
    explicit FileContexts(const std::filesystem::path& file);
    FileContexts(FileContexts&&) noexcept;
    FileContexts& operator=(FileContexts&&) noexcept;
    ~FileContexts();

    /// The context of an absolute, normalised path; empty if the policy has none for it ("<<none>>"
    /// or no match). Throws Error for an expression that is not a valid pattern.
    [[nodiscard]] std::string look_up(std::string_view path, EntryType type) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace edgegpu::selinux
