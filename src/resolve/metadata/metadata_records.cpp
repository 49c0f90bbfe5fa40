#include "resolve/metadata/metadata_records.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include <librepo/librepo.h>

#include "support/files/file_content.hpp"
#include "support/handles.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"
#include "transfer/xml_encoding.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

using RepomdPtr = Handle<LrYumRepoMd, lr_yum_repomd_free>;
using GErrorPtr = Handle<GError, g_error_free>;

/// A kind of metadata, its name, and the types of its records in repomd.xml, the preferred first.
/// createrepo_c's "_gz" has the same content as the plain type.
struct Spellings {
    MetadataKind kind;
    const char* name;
    std::vector<const char*> types;
};

const std::vector<Spellings>& known_kinds() {
    static const std::vector<Spellings> kinds{
        {MetadataKind::primary, "primary", {"primary"}},
        {MetadataKind::filelists, "filelists", {"filelists", "filelists-ext"}},
        {MetadataKind::comps, "group", {"group", "group_gz", "group_xz", "group_zst", "group_bz2"}},
        {MetadataKind::modules, "modules", {"modules"}},
        {MetadataKind::updateinfo, "updateinfo", {"updateinfo"}},
    };
    return kinds;
}

Error unreadable(const Repository& repository, const std::string& type, const std::string& why) {
    return error(ErrorKind::fetch, "repository '{}': its {} metadata {}", repository.id, type, why)
        .traced("repository defined at " + repository.location.text());
}

/// Debian builds libsolv without support for zchunk.
Error only_zchunk(const Repository& repository, const std::string& type) {
    return unreadable(repository, type,
                      "are available as zchunk (.zck) only, which edgegpu cannot read")
        .hinted("have the repository made with createrepo_c --compress-type gz, xz or zstd");
}

MetadataRecord read_record(const Repository& repository, const LrYumRepoMdRecord& record) {
    MetadataRecord result;
    result.type = text_of(record.type);
    const std::string href = text_of(record.location_href);
    if (href.empty()) {
        throw unreadable(repository, result.type, "have no location in repomd.xml");
    }
    if (href.ends_with(".zck")) {
        throw only_zchunk(repository, result.type);
    }
    FilePlace place = file_place(repository, result.type, text_of(record.location_base), href);
    result.base = std::move(place.base);
    result.href = std::move(place.location);
    result.checksum = accepted_checksum(repository, result.type, text_of(record.checksum_type),
                                        text_of(record.checksum));
    result.size = record.size > 0 ? static_cast<std::uint64_t>(record.size) : 0;
    result.open_size = record.size_open > 0 ? static_cast<std::uint64_t>(record.size_open) : 0;
    return result;
}

void take_kind(const Repository& repository, LrYumRepoMd* repomd, const Spellings& spellings,
               MetadataRecords& records) {
    std::optional<Error> refused;
    for (const char* type : spellings.types) {
        const LrYumRepoMdRecord* record = lr_yum_repomd_get_record(repomd, type);
        if (record == nullptr) {
            continue;
        }
        try {
            records.readable.emplace(spellings.kind, read_record(repository, *record));
            return;
        } catch (const Error& problem) {
            if (!refused) {
                refused = problem;
            }
        }
    }
    const std::string zchunk = std::string(spellings.name) + "_zck";
    if (!refused && lr_yum_repomd_get_record(repomd, zchunk.c_str()) != nullptr) {
        refused = only_zchunk(repository, spellings.name);
    }
    if (refused) {
        records.refused.emplace(spellings.kind, *refused);
    }
}

std::int64_t time_of(LrYumRepoMd* repomd) {
    const std::int64_t newest = lr_yum_repomd_get_highest_timestamp(repomd, nullptr);
    if (newest > 0) {
        return newest;
    }
    // createrepo_c's revision is the time; other programs write "1.0" or a counter.
    return std::max<std::int64_t>(whole_number<std::int64_t>(text_of(repomd->revision)).value_or(0),
                                  0);
}

/// The beginning of an open file, with all of an XML declaration.
std::string read_head(int fd, const fs::path& path) {
    std::string head(1024, '\0');
    const ssize_t got = ::pread(fd, head.data(), head.size(), 0);
    if (got < 0) {
        throw errno_error(path.string(), errno);
    }
    head.resize(static_cast<std::size_t>(got));
    return head;
}

/// Whether `url` begins with a scheme ("https://").
bool has_scheme(std::string_view url) {
    const std::size_t end = url.find("://");
    return end != std::string_view::npos && end > 0 &&
           std::all_of(url.begin(), url.begin() + static_cast<std::ptrdiff_t>(end), [](char c) {
               return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' ||
                      c == '.';
           });
}

/// Whether it has a local baseurl.
bool is_on_this_machine(const Repository& repository) {
    return std::ranges::any_of(repository.baseurls, [](const std::string& url) {
        return url.starts_with("file://") || url.starts_with('/');
    });
}

}  // namespace

const MetadataRecord* MetadataRecords::find(MetadataKind kind) const {
    if (const auto bad = refused.find(kind); bad != refused.end()) {
        throw Error(bad->second);
    }
    const auto found = readable.find(kind);
    return found != readable.end() ? &found->second : nullptr;
}

MetadataRecords read_records(const Repository& repository, const fs::path& path) {
    const Fd fd = open_to_read(path);
    std::optional<std::string> bad = xml_problem(read_head(fd.get(), path));
    const RepomdPtr repomd(lr_yum_repomd_init());
    GError* raw = nullptr;
    if (!bad && lr_yum_repomd_parse_file(repomd.get(), fd.get(), nullptr, nullptr, &raw) == FALSE) {
        bad = raw != nullptr ? raw->message : "unknown problem";
    }
    const GErrorPtr problem(raw);
    if (bad) {
        throw error(ErrorKind::fetch, "repository '{}': its repomd.xml cannot be read: {}",
                    repository.id, *bad)
            .traced("repository defined at " + repository.location.text())
            .hinted("check the URL of the repository");
    }
    MetadataRecords records;
    for (const Spellings& spellings : known_kinds()) {
        take_kind(repository, repomd.get(), spellings, records);
    }
    records.revision_time = time_of(repomd.get());
    if (records.find(MetadataKind::primary) == nullptr) {
        throw error(ErrorKind::fetch, "repository '{}': repomd.xml lists no primary metadata",
                    repository.id)
            .traced("repository defined at " + repository.location.text());
    }
    return records;
}

fs::path metadata_path(const fs::path& directory, const MetadataRecord& record) {
    return directory / "repodata" / fs::path(record.href).filename();
}

Checksum accepted_checksum(const Repository& repository, const std::string& what,
                           std::string_view type, std::string_view hex) {
    constexpr const char* way_out = "have the repository made with createrepo_c --checksum sha256";
    const auto refuse = [&](const std::string& why) {
        return error(ErrorKind::fetch, "repository '{}': {} {}", repository.id, what, why)
            .traced("repository defined at " + repository.location.text());
    };
    if (type.empty() || hex.empty()) {
        throw refuse("has no checksum in the metadata").hinted(way_out);
    }
    const std::optional<ChecksumAlgorithm> algorithm = checksum_algorithm(type);
    if (!algorithm && (type == "md5" || type == "MD5")) {
        throw refuse("has only an MD5 checksum, which protects nothing: it is never accepted")
            .hinted(way_out);
    }
    if (!algorithm) {
        throw refuse(fmt::format("has a checksum of an unknown type, '{}'", type)).hinted(way_out);
    }
    if (*algorithm == ChecksumAlgorithm::sha1 && !repository.allow_sha1) {
        throw refuse("has only a SHA-1 checksum, which can be forged")
            .hinted(fmt::format("{}; allow_sha1 = true of the repository accepts it", way_out));
    }
    try {
        return make_checksum(type, hex);
    } catch (const Error& problem) {
        throw refuse("has a bad checksum in the metadata: " + problem.message()).hinted(way_out);
    }
}

FilePlace file_place(const Repository& repository, const std::string& what, const std::string& base,
                     const std::string& href) {
    const std::string whole = has_scheme(href) || base.empty() ? href : base + '/' + href;
    const auto refuse = [&](const char* why) {
        return error(ErrorKind::fetch, "repository '{}': {} {}: '{}'", repository.id, what, why,
                     whole)
            .traced("repository defined at " + repository.location.text())
            .hinted("have the repository made again, with its files inside of it");
    };
    FilePlace place{base, href};
    if (has_scheme(href)) {
        const std::size_t slash = href.rfind('/');
        place = {href.substr(0, slash), href.substr(slash + 1)};
    }
    place.location = fs::path(place.location).lexically_normal().string();
    if (place.location.empty() || place.location.starts_with('/') || place.location == "." ||
        place.location == ".." || place.location.ends_with('/')) {
        throw refuse("has no usable location");
    }
    const bool here = is_on_this_machine(repository);
    const std::string scheme = place.base.substr(0, place.base.find("://"));
    if (!place.base.empty() && !has_scheme(place.base)) {
        throw refuse("has an xml:base that is not a URL");
    }
    if (!place.base.empty() && scheme != "http" && scheme != "https" &&
        !(scheme == "file" && here)) {
        throw refuse("is at a location that edgegpu does not read from");
    }
    if (place.location.starts_with("../") && (place.base.empty() ? here : scheme == "file")) {
        throw refuse("is outside of the repository");
    }
    return place;
}

}  // namespace edgegpu
