#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/file_lock.hpp"
#include "commit/cancellable.hpp"
#include "commit/object.hpp"
#include "commit/repository.hpp"
#include "openpgp/packets.hpp"
#include "repository/commit_view.hpp"
#include "repository/ostree_object.hpp"
#include "support/ed25519.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

VariantHandle read_detached(const Repo::Impl& repo, const std::string& checksum) {
    GlibFailure failure;
    VariantHandle found =
        load_object(repo.ostree.get(), OSTREE_OBJECT_TYPE_COMMIT_META, checksum, failure);
    if (!found && !failure.is(G_IO_ERROR_NOT_FOUND)) {
        throw failure.to_error(repo.path.string(), "cannot read detached metadata");
    }
    return found;
}

GVariant* signature_list(const std::vector<std::string>& signatures) {
    GVariantBuilder list;
    g_variant_builder_init(&list, G_VARIANT_TYPE("aay"));
    for (const std::string& signature : signatures) {
        g_variant_builder_add_value(
            &list,
            g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, signature.data(), signature.size(), 1));
    }
    return g_variant_builder_end(&list);
}

/// Puts objects into the repository, durably, as far as it has them not.
void put_objects(const Staging& staging, const std::map<std::string, std::string>& objects) {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : objects) {
        if (!staging.repository_has(name)) {
            staging.put(name, bytes);
            names.push_back(name);
        }
    }
    staging.publish(names);
}

/// A web server has to read what libostree has just written, whatever the umask.
void make_readable(const Repo::Impl& repo, const std::string& name) {
    static_cast<void>(::fchmodat(repo.directory.get(), name.c_str(), 0644, AT_SYMLINK_NOFOLLOW));
}

}  // namespace

VariantHandle with_signatures(GVariant* metadata, const Signatures& made) {
    GVariantDict all;
    g_variant_dict_init(&all, metadata);
    if (!made.gpg.empty()) {
        std::vector<std::string> signatures = signatures_of(metadata);
        const std::string issuer = issuer_of(made.gpg);
        std::erase_if(signatures, [&](const std::string& known) {
            return !issuer.empty() && issuer_of(known) == issuer;
        });
        signatures.push_back(made.gpg);
        g_variant_dict_insert_value(&all, signatures_key, signature_list(signatures));
    }
    if (!made.ed25519.empty()) {
        std::vector<std::string> signatures = signatures_of(metadata, ed25519_signatures_key);
        // A key makes the same signature each time.
        if (std::ranges::find(signatures, made.ed25519) == signatures.end()) {
            signatures.push_back(made.ed25519);
        }
        g_variant_dict_insert_value(&all, ed25519_signatures_key, signature_list(signatures));
    }
    return own(g_variant_dict_end(&all));
}

std::string issuer_of(std::string_view signature) {
    const auto packets = split_packets(signature);
    if (!packets || packets->empty()) {
        return {};
    }
    const auto read = read_signature_packet(packets->front().body);
    return read ? read->issuer : std::string();
}

Signatures signatures_for(const Repo::Impl& repo, const std::function<Signatures()>& sign) {
    try {
        return sign();
    } catch (const Error& problem) {
        if (problem.kind() == ErrorKind::interrupted) {
            throw;
        }
        Error named(problem.kind(), fmt::format("{}: {}", repo.path.string(), problem.message()));
        for (const std::string& trace : problem.traces()) {
            named.traced(trace);
        }
        throw named.hinted(problem.hint());
    }
}

VariantHandle signed_metadata(const Repo::Impl& repo, Signer& signer, const std::string& checksum,
                              std::string_view object, GVariant* detached) {
    VariantHandle present = read_detached(repo, checksum);
    const bool is_signed = has_signatures(present.get());
    GVariant* metadata = is_signed || detached == nullptr ? present.get() : detached;
    if (signer.signs_commits()) {
        const Signatures made = signatures_for(repo, [&] { return signer.sign_commit(object); });
        return with_signatures(metadata, made);
    }
    if (!is_signed && metadata != nullptr) {
        return VariantHandle(g_variant_ref(metadata));
    }
    return {};
}

void write_detached(const Repo::Impl& repo, const std::string& checksum, GVariant* metadata) {
    GlibFailure failure;
    if (ostree_repo_write_commit_detached_metadata(repo.ostree.get(), checksum.c_str(), metadata,
                                                   nullptr, failure.out()) == FALSE) {
        throw failure.to_error(repo.path.string(), "cannot write detached metadata");
    }
    make_readable(repo, "objects/" + object_path(checksum, "commitmeta"));
}

void add_signatures(const Repo::Impl& repo, Signer& signer, const CommitView& commit) {
    const std::string& checksum = commit.info().checksum;
    const VariantHandle object = commit.load(OSTREE_OBJECT_TYPE_COMMIT, checksum, "");
    const VariantHandle made =
        signed_metadata(repo, signer, checksum, bytes_of(object.get()), nullptr);
    write_detached(repo, checksum, made.get());
}

CommitView write_signed_commit(const Repo::Impl& repo, Signer& signer, const std::string& object,
                               GVariant* detached,
                               const std::map<std::string, std::string>& below) {
    const std::string checksum = sha256_hex(object);
    const Staging staging(repo);
    put_objects(staging, below);
    put_objects(staging, {{object_path(checksum, "commit"), object}});
    const VariantHandle made = signed_metadata(repo, signer, checksum, object, detached);
    if (made && g_variant_n_children(made.get()) != 0) {
        write_detached(repo, checksum, made.get());
    }
    return repo.view().commit_at(checksum, checksum);
}

}  // namespace edgegpu
