#include "upload/summary_trust.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "commit/repository.hpp"
#include "installer/commit_signature.hpp"
#include "openpgp/detached_signature.hpp"
#include "repository/commit_view.hpp"
#include "repository/remote_config.hpp"
#include "support/ed25519.hpp"
#include "support/error.hpp"
#include "support/glib.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// A key that was changed is in the images for some versions at least (docs/publish.md).
constexpr int versions_of_a_ref = 8;

SummaryTrust trust_of(SignatureVerdict verdict) {
    switch (verdict) {
        case SignatureVerdict::good:
            return SummaryTrust::good;
        case SignatureVerdict::unfit_content:
            return SummaryTrust::other_content;
        case SignatureVerdict::other_key:
            return SummaryTrust::other_key;
        default:
            return SummaryTrust::damaged;
    }
}

constexpr const char* signature_file = "summary.sig";

void require_own_signature(const PublishedState& local, const SummaryKeys& keys,
                           SummaryTrust trust) {
    constexpr const char* cure =
        "publish again with --sign, which makes both anew: something else has written one of them";
    if (trust == SummaryTrust::other_content || trust == SummaryTrust::damaged) {
        throw error(
            "{}: summary.sig is not the signature of its summary: devices that verify it "
            "would refuse both",
            local.shown())
            .hinted(cure);
    }
    if (keys.demanded_by().empty() || trust == SummaryTrust::good ||
        trust == SummaryTrust::unknown) {
        return;
    }
    throw error("{}: devices that follow {} verify the summary, and {}", local.shown(),
                keys.demanded_by(),
                trust == SummaryTrust::missing ? "it has no signature"
                                               : "no key of their images has signed it")
        .hinted("publish again, and name the key with --sign");
}

}  // namespace

void require_signed_heads(const Context& ctx, const PublishedState& local) {
    for (const auto& [ref, checksum] : local.refs()) {
        const CommitView head = local.view().commit_at(checksum, ref);
        require_acceptable(ctx, head, head);
    }
}

void require_trusted_summary(const Context& ctx, const PublishedState& local,
                             const RcloneRemote& remote, const RemoteState& there, bool overwrite) {
    std::vector<std::string> commits;
    for (const auto& [path, content] : there.heads) {
        if (step_of(path) == UploadStep::refs) {
            commits.emplace_back(trim_end(content));
        }
    }
    const SummaryKeys keys(ctx, local, commits);
    const std::string summary = local.content("summary");
    const std::string signature = local.content(signature_file);
    require_own_signature(local, keys, keys.judge(summary, signature));
    const std::string their_summary = there.head("summary");
    const std::string their_signature = there.head(signature_file);
    if ((their_summary == summary && their_signature == signature) ||
        (their_summary.empty() && their_signature.empty())) {
        return;
    }
    if (signature.empty() && !their_signature.empty() && !overwrite) {
        throw error(
            "{}: its summary is signed, and would not be any more: devices that verify it "
            "would refuse it",
            remote.shown())
            .hinted("publish with --sign; if no device verifies summaries: --overwrite");
    }
    const SummaryTrust trust = keys.judge(their_summary, their_signature);
    if (trust == SummaryTrust::other_key && !overwrite &&
        !SummaryKeys::same_key(their_signature, signature)) {
        throw error(
            "{}: somebody else has signed its summary: none of the keys with which devices "
            "of this repository verify has",
            remote.shown())
            .hinted(
                "is it the right remote, and who else has its credentials? To replace what is "
                "there: --overwrite");
    }
    const bool lost = trust == SummaryTrust::missing && !signature.empty();
    if (lost || trust == SummaryTrust::other_content || trust == SummaryTrust::damaged) {
        ctx.console->warn(fmt::format(
            "{}: devices that verify summaries refuse what is there: {}. An upload was "
            "interrupted, or somebody else has written there; this one mends it",
            remote.shown(),
            lost ? "the summary has no signature" : "summary.sig is not that of the summary"));
    }
}

SummaryKeys::SummaryKeys(const Context& ctx, const PublishedState& local,
                         const std::vector<std::string>& others)
    : ctx_(ctx) {
    std::set<std::string> seen;
    const auto look_at = [&](const std::string& checksum, const std::string& name, bool runs) {
        std::string parent;
        if (local.has_commit(checksum) && seen.insert(checksum).second) {
            try {
                const CommitView image = local.view().commit_at(checksum, name);
                parent = image.info().parent;
                add(image, runs);
            } catch (const Error& failure) {
                // An older version that has been pruned in part, or that has keys which nobody
                // reads: no others are known of it.
                if (failure.kind() == ErrorKind::interrupted) {
                    throw;
                }
            }
        }
        return parent;
    };
    for (const auto& [ref, head] : local.refs()) {
        std::string checksum = head;
        for (int i = 0; i < versions_of_a_ref && !checksum.empty(); ++i) {
            checksum = look_at(checksum, ref, i == 0);
        }
    }
    for (const std::string& checksum : others) {
        look_at(checksum, checksum, false);
    }
}

void SummaryKeys::add(const CommitView& image, bool runs) {
    for (const RemoteConfig& remote : remotes_of(image)) {
        if (runs && (remote.verifies_summary || takes_ed25519(remote.sign_verify_summary))) {
            demanded_by_ = image.info().name;
        }
        if (!remote.key_paths.empty()) {
            for (Certificate& key : keys_of_remote(image, {}, remote.name)) {
                if (std::ranges::none_of(gpg_, [&](const Certificate& known) {
                        return known.packets == key.packets;
                    })) {
                    gpg_.push_back(std::move(key));
                }
            }
        }
        if (!remote.sign_verify.empty() || !remote.sign_verify_summary.empty()) {
            std::ranges::move(ed25519_keys_of(image, {}, remote), std::back_inserter(ed25519_));
        }
    }
}

SummaryTrust SummaryKeys::judge(const std::string& summary, const std::string& signature) const {
    if (signature.empty()) {
        return SummaryTrust::missing;
    }
    const VariantHandle metadata = variant_from(G_VARIANT_TYPE("a{sv}"), signature);
    const std::vector<std::string> made = signatures_of(metadata.get());
    const std::vector<std::string> others = signatures_of(metadata.get(), ed25519_signatures_key);
    if (made.empty() && others.empty()) {
        return SummaryTrust::damaged;
    }
    if (gpg_.empty() && ed25519_.empty()) {
        return SummaryTrust::unknown;
    }
    SummaryTrust trust = SummaryTrust::other_key;
    for (const std::string& one : gpg_.empty() ? std::vector<std::string>() : made) {
        const SummaryTrust found =
            trust_of(check_detached_signature(ctx_, summary, one, gpg_).verdict);
        if (found == SummaryTrust::good) {
            return found;
        }
        trust = found == SummaryTrust::other_key ? trust : found;
    }
    for (const std::string& one : ed25519_.empty() ? std::vector<std::string>() : others) {
        if (verifies_ed25519(ed25519_, summary, one)) {
            return SummaryTrust::good;
        }
        // Such a signature does not say whose it is.
        trust = trust == SummaryTrust::other_key ? SummaryTrust::other_content : trust;
    }
    // Signatures of one kind, and keys of the other one.
    const bool comparable =
        (!gpg_.empty() && !made.empty()) || (!ed25519_.empty() && !others.empty());
    return comparable ? trust : SummaryTrust::unknown;
}

bool SummaryKeys::same_key(const std::string& signature, const std::string& other) {
    const auto issuers = [](const std::string& text) {
        std::set<std::string> found;
        const VariantHandle metadata = variant_from(G_VARIANT_TYPE("a{sv}"), text);
        for (const std::string& one : signatures_of(metadata.get())) {
            found.insert(issuer_of(one));
        }
        return found;
    };
    const std::set<std::string> ours = issuers(signature);
    return std::ranges::any_of(issuers(other),
                               [&](const std::string& key) { return ours.contains(key); });
}

}  // namespace edgegpu
