#include "fetch/remote_commit.hpp"

#include <utility>

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/glib.hpp"
#include "support/text/text.hpp"
#include "transfer/transfer.hpp"
#include "transfer/url.hpp"

namespace edgegpu {

namespace {

/// A build does not wait long for a server that only devices may reach.
constexpr int seconds_to_connect = 2;
constexpr std::uint64_t largest_ref = 4096;

/// A file below the URL; nothing if the server says that it has none.
std::optional<std::string> file_at(const Context& ctx, const OstreeRequest& ostree,
                                   const std::string& location, std::uint64_t limit) {
    Repository server;
    server.id = "ostree.url";
    server.baseurls = {ostree.url};
    server.location = ostree.location;
    server.transfer.retries = 0;
    server.transfer.timeout = seconds_to_connect;
    WantedFile wanted;
    wanted.location = location;
    wanted.destination = ctx.work() / "remote-commit";
    wanted.promise.limit = limit;
    const std::vector<TransferResult> results = transfer(ctx, server, server.baseurls, {wanted});
    const TransferResult& result = results.front();
    if (result.done) {
        return read_file(wanted.destination, limit);
    }
    if (!result.failures.empty() && result.failures.back().kind == TransferFailureKind::missing) {
        return std::nullopt;
    }
    throw transfer_error(server, location, result);
}

std::optional<RemoteCommit> ask(const Context& ctx, const OstreeRequest& ostree) {
    const std::optional<std::string> ref =
        file_at(ctx, ostree, "refs/heads/" + ostree.ref, largest_ref);
    if (!ref) {
        return std::nullopt;
    }
    RemoteCommit commit;
    commit.checksum = trim(*ref);
    if (!is_sha256(commit.checksum)) {
        throw error(ErrorKind::fetch, "ref {} is not a checksum there", ostree.ref);
    }
    const std::optional<std::string> object =
        file_at(ctx, ostree,
                fmt::format("objects/{}/{}.commit", commit.checksum.substr(0, 2),
                            commit.checksum.substr(2)),
                OSTREE_MAX_METADATA_SIZE);
    if (!object || sha256_hex(*object) != commit.checksum) {
        throw error(ErrorKind::fetch, "commit {} is {} there", commit.checksum,
                    object ? "damaged" : "missing");
    }
    const Handle<GBytes, g_bytes_unref> bytes(g_bytes_new(object->data(), object->size()));
    const VariantHandle variant =
        own(g_variant_new_from_bytes(G_VARIANT_TYPE("(a{sv}aya(say)sstayay)"), bytes.get(), FALSE));
    commit.time = static_cast<std::int64_t>(ostree_commit_get_timestamp(variant.get()));
    return commit;
}

}  // namespace

RemoteQuestion::RemoteQuestion(const Context& ctx, const OstreeRequest& ostree) {
    // A local URL is a place on the device.
    if (ctx.offline || !is_web_url(ostree.url)) {
        return;
    }
    Context own = ctx;
    own.abandoned = &stop_;
    answer_ = std::async(std::launch::async,
                         [own = std::move(own), &ostree] { return ask(own, ostree); });
}

RemoteQuestion::~RemoteQuestion() {
    stop_ = true;
}

std::optional<RemoteCommit> RemoteQuestion::answer() {
    return answer_.valid() ? answer_.get() : std::nullopt;
}

}  // namespace edgegpu
