#include "resolve/advisories.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

extern "C" {
#include <solv/repo_updateinfoxml.h>
}

#include "resolve/metadata.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

/// An advisory and the newest kernel that it names.
struct KernelAdvisory {
    Advisory advisory;
    std::string evr;
};

std::string text_of(const char* text) {
    return text != nullptr ? text : "";
}

/// Calls `function` at every element of an array of structures; inside SOLVID_POS is the element.
template <typename Function>
void for_each_element(Pool* pool, Id id, Id key, const Function& function) {
    Dataiterator iterator;
    dataiterator_init(&iterator, pool, nullptr, id, key, nullptr, 0);
    while (dataiterator_step(&iterator) != 0) {
        dataiterator_setpos(&iterator);
        function();
    }
    dataiterator_free(&iterator);
}

/// Reads one repository's advisories into a pool of their own: libsolv would otherwise take part
/// in the solve with them.
class AdvisoryReader {
public:
    explicit AdvisoryReader(std::set<std::string> names)
        : pool_(pool_create()), names_(std::move(names)) {
        pool_setdisttype(pool_.get(), DISTTYPE_RPM);
    }

    void add(const RepositoryMetadata& metadata) {
        const MetadataStream file = open_metadata_file(metadata.resolved.id, metadata.updateinfo);
        Repo* repo = repo_create(pool_.get(), metadata.resolved.id.c_str());
        if (repo_add_updateinfoxml(repo, file.get(), 0) != 0) {
            throw error(ErrorKind::fetch, "repository '{}': invalid advisories: {}",
                        metadata.resolved.id, pool_errstr(pool_.get()));
        }
    }

    [[nodiscard]] std::vector<KernelAdvisory> security_advisories() {
        std::vector<KernelAdvisory> found;
        for (Id id = 2; id < pool_->nsolvables; ++id) {
            Solvable* patch = pool_id2solvable(pool_.get(), id);
            if (patch->repo == nullptr ||
                text_of(solvable_lookup_str(patch, SOLVABLE_PATCHCATEGORY)) != "security") {
                continue;
            }
            const std::string evr = newest_kernel(id);
            if (!evr.empty()) {
                found.push_back({read(id, patch), evr});
            }
        }
        return found;
    }

private:
    std::string newest_kernel(Id id) {
        std::string newest;
        for_each_element(pool_.get(), id, UPDATE_COLLECTION, [&] {
            const Id name = pool_lookup_id(pool_.get(), SOLVID_POS, UPDATE_COLLECTION_NAME);
            const Id evr = pool_lookup_id(pool_.get(), SOLVID_POS, UPDATE_COLLECTION_EVR);
            if (name == 0 || evr == 0 || !names_.contains(pool_id2str(pool_.get(), name))) {
                return;
            }
            const char* text = pool_id2str(pool_.get(), evr);
            if (newest.empty() ||
                pool_evrcmp_str(pool_.get(), text, newest.c_str(), EVRCMP_COMPARE) > 0) {
                newest = text;
            }
        });
        return newest;
    }

    Advisory read(Id id, Solvable* patch) {
        constexpr std::string_view prefix = "patch:";
        Advisory advisory;
        advisory.id = pool_id2str(pool_.get(), patch->name);
        if (advisory.id.starts_with(prefix)) {
            advisory.id.erase(0, prefix.size());
        }
        advisory.severity = text_of(solvable_lookup_str(patch, UPDATE_SEVERITY));
        if (advisory.severity == "None") {
            advisory.severity.clear();
        }
        for_each_element(pool_.get(), id, UPDATE_REFERENCE, [&] {
            const char* type = pool_lookup_str(pool_.get(), SOLVID_POS, UPDATE_REFERENCE_TYPE);
            const char* cve = pool_lookup_str(pool_.get(), SOLVID_POS, UPDATE_REFERENCE_ID);
            if (cve != nullptr && text_of(type) == "cve") {
                advisory.cves.emplace_back(cve);
            }
        });
        std::sort(advisory.cves.begin(), advisory.cves.end());
        advisory.cves.erase(std::unique(advisory.cves.begin(), advisory.cves.end()),
                            advisory.cves.end());
        return advisory;
    }

    Handle<Pool, pool_free> pool_;
    std::set<std::string> names_;
};

std::vector<KernelAdvisory> read_advisories(const Context& ctx, const PackagePool& pool,
                                            const std::string& name) {
    AdvisoryReader reader({name, name + "-core"});
    for (RepositoryMetadata metadata : pool.repositories()) {
        ctx.check_cancelled();
        // They only inform: nothing about them ends a build.
        try {
            if (!load_updateinfo(ctx, metadata)) {
                ctx.console->note(fmt::format(
                    "repository '{}': its advisories are not in the cache", metadata.resolved.id));
            } else if (!metadata.updateinfo.empty()) {
                reader.add(metadata);
            }
        } catch (const Error& problem) {
            if (problem.kind() == ErrorKind::interrupted) {
                throw;
            }
            ctx.console->warn("advisories are not known: " + problem.message());
        }
    }
    return reader.security_advisories();
}

}  // namespace

std::string Advisory::text() const {
    return severity.empty() ? id : fmt::format("{} ({})", id, severity);
}

std::string PassedOver::text() const {
    constexpr std::size_t most = 5;
    std::string line = fmt::format("{} passed over: {}", what, reason);
    if (advisories.empty()) {
        return line;
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < advisories.size() && i < most; ++i) {
        names.push_back(advisories[i].text());
    }
    if (advisories.size() > most) {
        names.push_back(fmt::format("and {} more", advisories.size() - most));
    }
    return line + fmt::format("; the image misses its security fixes: {}", fmt::join(names, ", "));
}

std::vector<PassedOver> describe_passed(const Context& ctx, const PackagePool& pool,
                                        const std::string& name, Id chosen,
                                        const std::vector<PassedKernel>& passed) {
    std::vector<PassedOver> result;
    for (const PassedKernel& kernel : passed) {
        result.push_back(
            {fmt::format("kernel {}", pool.nevra(kernel.kernel).text()), kernel.reason, {}});
    }
    if (passed.empty()) {
        return result;
    }
    const auto evr_of = [&](Id id) { return pool_id2str(pool.get(), pool.solvable(id)->evr); };
    const auto is_newer = [&](const char* left, const char* right) {
        return pool_evrcmp_str(pool.get(), left, right, EVRCMP_COMPARE) > 0;
    };
    for (const KernelAdvisory& found : read_advisories(ctx, pool, name)) {
        if (!is_newer(found.evr.c_str(), evr_of(chosen))) {
            continue;
        }
        for (std::size_t i = passed.size(); i-- > 0;) {
            if (!is_newer(found.evr.c_str(), evr_of(passed[i].kernel))) {
                result[i].advisories.push_back(found.advisory);
                break;
            }
        }
    }
    for (PassedOver& entry : result) {
        std::sort(entry.advisories.begin(), entry.advisories.end());
        entry.advisories.erase(std::unique(entry.advisories.begin(), entry.advisories.end()),
                               entry.advisories.end());
    }
    return result;
}

}  // namespace edgegpu
