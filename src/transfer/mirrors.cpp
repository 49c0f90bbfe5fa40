#include "transfer/mirrors.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <librepo/librepo.h>

#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"
#include "transfer/arrival.hpp"
#include "transfer/url.hpp"
#include "transfer/xml_encoding.hpp"

namespace edgegpu {

namespace {

using MetalinkPtr = Handle<LrMetalink, lr_metalink_free>;
using GErrorPtr = Handle<GError, g_error_free>;

constexpr std::uint64_t largest_list = 4U << 20U;
constexpr std::string_view repomd = "repodata/repomd.xml";

/// The strongest acceptable hash.
std::optional<Checksum> strongest(const Repository& repository, const GSList* hashes) {
    std::optional<Checksum> best;
    for (const GSList* item = hashes; item != nullptr; item = item->next) {
        const auto* hash = static_cast<const LrMetalinkHash*>(item->data);
        if (hash->type == nullptr || hash->value == nullptr) {
            continue;
        }
        const auto algorithm = checksum_algorithm(hash->type);
        if (!algorithm || (*algorithm == ChecksumAlgorithm::sha1 && !repository.allow_sha1)) {
            continue;
        }
        if (!best || *algorithm > best->algorithm) {
            best = make_checksum(hash->type, hash->value);
        }
    }
    return best;
}

std::uint64_t size_of(gint64 size) {
    return size > 0 ? static_cast<std::uint64_t>(size) : 0;
}

std::vector<RepomdPromise> promises_of(const Repository& repository, const LrMetalink& metalink) {
    std::vector<RepomdPromise> promises;
    if (const auto checksum = strongest(repository, metalink.hashes)) {
        promises.push_back({*checksum, size_of(metalink.size)});
    }
    for (const GSList* item = metalink.alternates; item != nullptr; item = item->next) {
        const auto* alternate = static_cast<const LrMetalinkAlternate*>(item->data);
        if (const auto checksum = strongest(repository, alternate->hashes)) {
            promises.push_back({*checksum, size_of(alternate->size)});
        }
    }
    return promises;
}

std::vector<std::string> mirrors_of(const LrMetalink& metalink) {
    std::vector<const LrMetalinkUrl*> urls;
    for (const GSList* item = metalink.urls; item != nullptr; item = item->next) {
        const auto* url = static_cast<const LrMetalinkUrl*>(item->data);
        if (url->url != nullptr && is_web_url(url->url)) {
            urls.push_back(url);
        }
    }
    std::ranges::stable_sort(urls, [](const LrMetalinkUrl* a, const LrMetalinkUrl* b) {
        return a->preference > b->preference;
    });
    std::vector<std::string> mirrors;
    for (const LrMetalinkUrl* url : urls) {
        std::string_view base = url->url;
        if (base.ends_with(repomd)) {
            base.remove_suffix(repomd.size());
            mirrors.emplace_back(base);
        }
    }
    return mirrors;
}

Error list_error(const Repository& repository, const char* kind, const std::string& url,
                 const std::string& why) {
    return error(ErrorKind::fetch, "repository '{}': its {} {} {}", repository.id, kind,
                 redacted(url), why)
        .traced("repository defined at " + repository.location.text())
        .hinted(fmt::format("check {} of the repository, or give baseurl instead", kind));
}

bool is_metalink(std::string_view text) {
    return text.substr(0, 4096).find("<metalink") != std::string_view::npos;
}

/// Downloads and reads the list of mirrors at `url`. `kind`: "metalink" or "mirrorlist".
MirrorList ask(const Context& ctx, const Repository& repository, const char* kind,
               const std::string& url) {
    const std::string text =
        transfer_text(ctx, repository, url, largest_list, fmt::format("its {}", kind));
    MirrorList list;
    // Like dnf, accepts a metalink as mirrorlist.
    if (is_metalink(text)) {
        try {
            list = read_metalink(repository, text);
        } catch (const Error& problem) {
            throw list_error(repository, kind, url, problem.message());
        }
    } else if (looks_like_web_page(text)) {
        throw list_error(repository, kind, url, "is a web page");
    } else if (std::string_view(kind) == "metalink") {
        throw list_error(repository, kind, url, "is not a metalink");
    } else {
        list.mirrors = read_mirrorlist(text, local_file(url).has_value());
    }
    if (list.mirrors.empty()) {
        throw list_error(repository, kind, url, "lists no mirror with http or https");
    }
    return list;
}

}  // namespace

std::vector<std::string> read_mirrorlist(std::string_view text, bool files) {
    std::vector<std::string> mirrors;
    for (const std::string_view whole : lines_of(text)) {
        const std::string_view line = trim(whole);
        if (line.empty() || line.starts_with('#')) {
            continue;
        }
        if (is_web_url(line) || (files && local_file(line))) {
            mirrors.emplace_back(line);
        }
    }
    return mirrors;
}

MirrorList read_metalink(const Repository& repository, const std::string& text) {
    if (const std::optional<std::string> problem = xml_problem(text)) {
        throw error("cannot be read: {}", *problem);
    }
    const MetalinkPtr metalink(lr_metalink_init());
    const Fd file = memory_file("metalink", text);
    GError* raw = nullptr;
    const bool good = lr_metalink_parse_file(metalink.get(), file.get(), "repomd.xml", nullptr,
                                             nullptr, &raw) != FALSE;
    const GErrorPtr problem(raw);
    if (!good) {
        throw error("cannot be read: {}", problem ? problem->message : "unknown problem");
    }
    MirrorList list{mirrors_of(*metalink), promises_of(repository, *metalink)};
    if (list.promises.empty()) {
        throw error(
            "has no checksum of repomd.xml that can be trusted: SHA-224 or better, or "
            "SHA-1 with allow_sha1 = true");
    }
    return list;
}

MirrorList find_mirrors(const Context& ctx, const Repository& repository) {
    MirrorList all;
    all.mirrors = repository.baseurls;
    const bool has_metalink = !repository.metalink.empty();
    const std::string& url = has_metalink ? repository.metalink : repository.mirrorlist;
    if (url.empty()) {
        return all;
    }
    const char* kind = has_metalink ? "metalink" : "mirrorlist";
    try {
        MirrorList list = ask(ctx, repository, kind, url);
        std::set<std::string> known(repository.baseurls.begin(), repository.baseurls.end());
        for (std::string& mirror : list.mirrors) {
            if (known.insert(mirror).second) {
                all.mirrors.push_back(std::move(mirror));
            }
        }
        all.promises = std::move(list.promises);
    } catch (const Error& problem) {
        if (all.mirrors.empty() || problem.kind() == ErrorKind::interrupted) {
            throw;
        }
        const std::string why =
            problem.traces().size() < 2 ? "" : fmt::format(" ({})", problem.traces().front());
        ctx.console->warn(problem.message() + why + "; only its baseurl was used");
    }
    return all;
}

}  // namespace edgegpu
