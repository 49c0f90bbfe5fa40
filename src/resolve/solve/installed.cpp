#include "resolve/solve/installed.hpp"

#include <memory>
#include <string_view>

#include <rpm/header.h>

extern "C" {
#include <solv/repo_rpmdb.h>
}

#include "resolve/solve/kernel.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

using InstalledHeader = Handle<headerToken_s, headerFree>;

struct FreeState {
    void operator()(void* state) const noexcept { rpm_state_free(state); }
};

/// Keys that rpm has imported are in its database, and no packages.
bool is_key(Header header) {
    const char* name = headerGetString(header, RPMTAG_NAME);
    return name != nullptr && std::string_view(name) == "gpg-pubkey";
}

}  // namespace

void add_installed(Pool* pool, const InstalledPackages& installed) {
    ::Repo* repo = repo_create(pool, installed.name.c_str());
    const std::unique_ptr<void, FreeState> state(rpm_state_create(pool, nullptr));
    for (const std::string& blob : installed.headers) {
        const InstalledHeader header(headerImport(
            const_cast<char*>(blob.data()), static_cast<unsigned>(blob.size()), HEADERIMPORT_COPY));
        if (header && is_key(header.get())) {
            continue;
        }
        void* handle = header ? rpm_byrpmh(state.get(), header.get()) : nullptr;
        if (handle == nullptr ||
            repo_add_rpm_handle(repo, handle, REPO_REUSE_REPODATA | REPO_NO_INTERNALIZE) == 0) {
            throw error("{}: a package in its database cannot be read", installed.name);
        }
    }
    repo_internalize(repo);
    pool->installed = repo;
}

Id installed_kernel(const PackagePool& pool, const std::string& glob) {
    const std::string& parent = pool.installed()->name;
    std::vector<Id> found = filtered(
        pool.packages(), [&](Id id) { return pool.is_installed(id) && is_kernel(pool, id); });
    if (found.empty()) {
        throw error(ErrorKind::unsolvable, "{}: its package database has no kernel", parent)
            .hinted("the parent has to be a bootable image that consists of packages");
    }
    if (found.size() > 1) {
        throw error(ErrorKind::unsolvable, "{}: its package database has two kernels: {} and {}",
                    parent, pool.nevra(found[0]).text(), pool.nevra(found[1]).text());
    }
    if (!glob.empty() && !matches_kernel(pool, found.front(), "kernel", glob)) {
        throw error(ErrorKind::unsolvable,
                    "the kernel of the parent is {}, which does not match '{}'",
                    pool.nevra(found.front()).text(), glob)
            .hinted("the image keeps the kernel of its parent: leave out kernel in [nvidia]");
    }
    return found.front();
}

WithoutInstalled::WithoutInstalled(const PackagePool& pool)
    : pool_(pool.get()), installed_(pool.get()->installed) {
    pool_->installed = nullptr;
    for (const Id id : pool.packages()) {
        if (pool.is_installed(id) && pool_->considered != nullptr &&
            MAPTST(pool_->considered, id) != 0) {
            MAPCLR(pool_->considered, id);
            hidden_.push_back(id);
        }
    }
}

WithoutInstalled::~WithoutInstalled() {
    for (const Id id : hidden_) {
        MAPSET(pool_->considered, id);
    }
    pool_->installed = installed_;
}

}  // namespace edgegpu
