#include "signing/signing_keys.hpp"

#include <cstring>
#include <utility>

#include <elf.h>
#include <ostree.h>

#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/glib.hpp"

namespace edgegpu {

namespace {

/// Of one run, before its commit: what a killed one left; without the deltas that get new
/// signatures, with them, and without those that are removed afterwards.
constexpr std::size_t most_owed = 3;

Error refused(std::string_view what) {
    return error("refused to sign {}", what)
        .hinted("a build signs its own commit, summary and kernel modules only");
}

/// Whether a commit's metadata bind it to `ref` and to no other ref.
bool is_bound_to(GVariant* commit, const std::string& ref) {
    const VariantHandle metadata(g_variant_get_child_value(commit, 0));
    const VariantHandle refs(g_variant_lookup_value(
        metadata.get(), OSTREE_COMMIT_META_KEY_REF_BINDING, G_VARIANT_TYPE_STRING_ARRAY));
    if (!refs || g_variant_n_children(refs.get()) != 1) {
        return false;
    }
    const VariantHandle bound(g_variant_get_child_value(refs.get(), 0));
    return ref == g_variant_get_string(bound.get(), nullptr);
}

/// A commit or summary; null if it is none, or too large.
VariantHandle variant_to_sign(const GVariantType* type, std::string_view bytes) {
    return bytes.size() > commit_limit ? nullptr : variant_from(type, bytes);
}

/// The commit of `ref` in a summary, hexadecimal; empty if it has none or several.
std::string commit_in_summary(GVariant* summary, const std::string& ref) {
    const VariantHandle refs(g_variant_get_child_value(summary, 0));
    std::string found;
    for (const VariantHandle& item : children_of(refs.get())) {
        const char* name = nullptr;
        GVariant* bytes = nullptr;
        g_variant_get_child(item.get(), 0, "&s", &name);
        if (ref != name) {
            continue;
        }
        g_variant_get_child(item.get(), 1, "(t@ay@a{sv})", nullptr, &bytes, nullptr);
        const VariantHandle checksum(bytes);
        if (!found.empty() || g_variant_n_children(checksum.get()) != OSTREE_SHA256_DIGEST_LEN) {
            return {};
        }
        const TextHandle text(ostree_checksum_from_bytes_v(checksum.get()));
        found = text.get();
    }
    return found;
}

/// Whether it begins like a kernel module: with the header of a relocatable 64-bit ELF file.
bool is_object_file(std::string_view bytes) {
    Elf64_Ehdr header{};
    if (bytes.size() < sizeof header) {
        return false;
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
           header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_type == ET_REL;
}

}  // namespace

SigningKeys::SigningKeys(SigningRequest request) : request_(std::move(request)) {
    if (request_.module_key) {
        modules_.emplace(*request_.module_key);
    }
    if (!request_.ed25519_key.empty()) {
        ed25519_.emplace(request_.ed25519_key);
    } else if (!request_.ed25519_command.empty()) {
        ed25519_command_.emplace(request_.ed25519_command, request_.ed25519_public_key);
    }
}

bool SigningKeys::signs() const {
    return !request_.gpg_key.empty() || ed25519_ || ed25519_command_;
}

Signatures SigningKeys::signatures(std::string_view content) const {
    Signatures made;
    if (!request_.gpg_key.empty()) {
        made.gpg = make_gpg_signature(request_.gpg_key, request_.gpg_homedir, content);
    }
    if (ed25519_) {
        made.ed25519 = ed25519_->signature(content);
    } else if (ed25519_command_) {
        made.ed25519 = ed25519_command_->signature(content);
    }
    return made;
}

std::string SigningKeys::ed25519_key() const {
    return ed25519_           ? ed25519_->public_key()
           : ed25519_command_ ? ed25519_command_->public_key()
                              : std::string();
}

TrialSignature SigningKeys::sign_trial() const {
    if (request_.gpg_key.empty()) {
        throw refused("a trial: the blueprint names no GPG key");
    }
    return make_trial_signature(request_.gpg_key, request_.gpg_homedir);
}

Signatures SigningKeys::sign_commit(std::string_view object) {
    if (!signs()) {
        throw refused("a commit: the blueprint names no GPG key");
    }
    const VariantHandle commit =
        variant_to_sign(G_VARIANT_TYPE(OSTREE_COMMIT_GVARIANT_STRING), object);
    if (!commit || ostree_validate_structureof_commit(commit.get(), nullptr) == FALSE) {
        throw refused("something that is not a commit");
    }
    if (!is_bound_to(commit.get(), request_.ref)) {
        throw refused(fmt::format("a commit that is not bound to ref {} alone", request_.ref));
    }
    std::string checksum = sha256_hex(object);
    if (!commit_.empty() && commit_ != checksum) {
        throw refused(fmt::format("a second commit, {}", checksum));
    }
    Signatures made = signatures(object);
    commit_ = std::move(checksum);
    return made;
}

Signatures SigningKeys::sign_summary(std::string_view summary) {
    if (!signs()) {
        throw refused("a summary: the blueprint names no GPG key");
    }
    const VariantHandle parsed =
        variant_to_sign(G_VARIANT_TYPE(OSTREE_SUMMARY_GVARIANT_STRING), summary);
    if (!parsed) {
        throw refused("something that is not a summary");
    }
    const std::string named = commit_in_summary(parsed.get(), request_.ref);
    const bool owed = owed_summaries_.empty() ||
                      (owed_summaries_.size() < most_owed && owed_summaries_[0] == named);
    if (commit_.empty() ? !owed : named != commit_) {
        throw refused(fmt::format("a summary that says of ref {}: {}", request_.ref,
                                  named.empty() ? "nothing" : named));
    }
    Signatures made = signatures(summary);
    owed_summaries_.push_back(named);
    return made;
}

std::string SigningKeys::sign_module(std::string_view module) const {
    if (!modules_) {
        throw refused("a kernel module: the blueprint has no [nvidia.secure_boot]");
    }
    if (module.size() > module_limit_to_sign || !is_object_file(module)) {
        throw refused("something that is not a kernel module");
    }
    if (module.ends_with(signature_marker)) {
        throw refused("a kernel module that is already signed");
    }
    return modules_->signature(module);
}

std::optional<ModuleCertificate> SigningKeys::certificate() const {
    if (!modules_) {
        return std::nullopt;
    }
    return ModuleCertificate{modules_->name(), modules_->certificate()};
}

}  // namespace edgegpu
