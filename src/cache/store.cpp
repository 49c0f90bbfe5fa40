#include "cache/store.hpp"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include "cache/last_use.hpp"
#include "support/error.hpp"
#include "support/files/build_id.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr const char* seal_name = "seal";
constexpr std::string_view entry_format = "edgegpu-entry/2";
constexpr std::uint64_t largest_seal = 64ULL << 20U;
constexpr std::size_t digest_digits = 64;

bool is_part_name(const std::string& name) {
    return !name.empty() && name != seal_name && !name.starts_with('.') &&
           name.find('/') == std::string::npos;
}

/// A regular file of an entry; nothing if there is none, or something else.
std::optional<std::string> read_part(const fs::path& path, std::uint64_t limit) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        static_cast<std::uint64_t>(status.st_size) > limit) {
        return std::nullopt;
    }
    return read_file(file.get(), path.string(), limit);
}

/// The document before the last line, which has to be its digest; nothing if it is not.
std::optional<std::string> unsealed(std::string text) {
    if (text.size() < digest_digits + 1 || text.back() != '\n') {
        return std::nullopt;
    }
    const std::string seal = text.substr(text.size() - digest_digits - 1, digest_digits);
    text.resize(text.size() - digest_digits - 1);
    return seal == sha256_hex(text) ? std::optional(std::move(text)) : std::nullopt;
}

using nlohmann::json;

json to_json(const Remark& remark) {
    return {{"kind", static_cast<int>(remark.kind)}, {"text", remark.text}, {"item", remark.item}};
}

std::vector<Remark> remarks_of(const json& seal) {
    return mapped(seal.at("remarks"), [](const json& remark) {
        return Remark{static_cast<Remark::Kind>(remark.at("kind").get<int>()),
                      remark.at("text").get<std::string>(), remark.at("item").get<std::string>()};
    });
}

/// The files that the seal lists; nothing if one differs from what was sealed.
std::optional<std::map<std::string, std::string>> read_files(const Context& ctx,
                                                             const fs::path& directory,
                                                             const json& seal) {
    std::map<std::string, std::string> files;
    for (const json& file : seal.at("files")) {
        ctx.check_cancelled();
        const auto name = file.at("name").get<std::string>();
        const auto size = file.at("size").get<std::uint64_t>();
        if (!is_part_name(name)) {
            return std::nullopt;
        }
        std::optional<std::string> content = read_part(directory / name, size);
        if (!content || content->size() != size ||
            sha256_hex(*content) != file.at("sha256").get<std::string>()) {
            return std::nullopt;
        }
        files.emplace(name, *std::move(content));
    }
    return files;
}

fs::path place_of_entry(const Context& ctx, const StoreKind& kind, const std::string& key) {
    return ctx.cache / kind.name / fmt::format("{}-{}", key, program_identity());
}

/// The entry; nothing where there is none that can be trusted.
std::optional<StoredEntry> open_entry(const Context& ctx, const StoreKind& kind,
                                      const std::string& key, const fs::path& directory) {
    try {
        std::optional<std::string> text = read_part(directory / seal_name, largest_seal);
        text = text ? unsealed(*std::move(text)) : std::nullopt;
        if (!text) {
            return std::nullopt;
        }
        const json seal = json::parse(*text);
        if (seal.at("format").get<std::string>() != entry_format ||
            seal.at("kind").get<std::string>() != kind.name ||
            seal.at("key").get<std::string>() != key) {
            return std::nullopt;
        }
        auto files = read_files(ctx, directory, seal);
        return files ? std::optional(StoredEntry(directory, *std::move(files), remarks_of(seal)))
                     : std::nullopt;
    } catch (const json::exception&) {
        // Sealed in another way.
        return std::nullopt;
    } catch (const Error& problem) {
        if (problem.kind() == ErrorKind::interrupted) {
            throw;
        }
        return std::nullopt;  // A read error: the entry is made again.
    }
}

}  // namespace

const std::string* StoredEntry::find(const std::string& name) const {
    const auto found = files_.find(name);
    return found == files_.end() ? nullptr : &found->second;
}

void StoredEntry::repeat_remarks(Console* console) const {
    if (console == nullptr) {
        return;
    }
    for (const Remark& remark : remarks_) {
        console->say(remark);
    }
}

std::optional<StoredEntry> find_stored(const Context& ctx, const StoreKind& kind,
                                       const std::string& key) {
    const fs::path directory = place_of_entry(ctx, kind, key);
    const bool present = mark_used(ctx, directory / seal_name);
    std::optional<StoredEntry> entry =
        present ? open_entry(ctx, kind, key, directory) : std::nullopt;
    std::vector<LogField> fields{{"kind", kind.name}, {"key", key}};
    if (!entry) {
        fields.push_back({"why", present ? "damaged" : "absent"});
    }
    ctx.log.debug(entry ? "cache hit" : "cache miss", std::move(fields));
    return entry;
}

NewEntry::NewEntry(const Context& ctx, const StoreKind& kind, std::string key)
    : ctx_(ctx),
      kind_(kind),
      key_(std::move(key)),
      place_(place_of_entry(ctx, kind, key_)),
      temporary_(place_.parent_path() / (".new-" + place_.filename().string())) {
    remove_tree(temporary_);
    make_directories(temporary_);
}

NewEntry::~NewEntry() {
    try {
        remove_tree(temporary_);
    } catch (const Error&) {
        // The next build that finds no other user removes it.
        return;
    }
}

void NewEntry::add(const std::string& name, std::string_view content) {
    if (!is_part_name(name)) {
        throw error("\"{}\" is not the name of a file in the cache", name);
    }
    write_file(temporary_ / name, content);
    files_[name] = {content.size(), sha256_hex(content)};
}

void NewEntry::keep(const std::vector<Remark>& remarks) {
    if (forgotten_) {
        return;
    }
    json files = json::array();
    for (const auto& [name, file] : files_) {
        files.push_back({{"name", name}, {"size", file.first}, {"sha256", file.second}});
    }
    const json seal = {{"format", entry_format},
                       {"kind", kind_.name},
                       {"key", key_},
                       {"files", std::move(files)},
                       {"remarks", mapped(remarks, to_json)}};
    const std::string text = seal.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
    write_file(temporary_ / seal_name, text + sha256_hex(text) + '\n');
    remove_tree(place_);
    if (::rename(temporary_.c_str(), place_.c_str()) != 0) {
        throw errno_error(place_.string(), errno);
    }
    ctx_.log.debug("cache entry made", {{"kind", kind_.name}, {"key", key_}});
}

}  // namespace edgegpu
