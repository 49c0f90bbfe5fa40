#include "resolve/solve/advisories.hpp"

#include <strings.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "resolve/metadata/metadata.hpp"
#include "resolve/metadata/repo_cache.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"
#include "support/ranges.hpp"
#include "support/text/nevra.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// An advisory and the newest kernel that it names.
struct KernelAdvisory {
    Advisory advisory;
    std::string evr;
};

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// All words of the form CVE-NUMBER-NUMBER. (std::regex recurses for each character: a long number
/// would exhaust the stack.)
std::vector<std::string_view> cves_in(std::string_view text) {
    constexpr std::string_view prefix = "CVE-";
    std::vector<std::string_view> found;
    std::size_t end = 0;
    for (std::size_t at = text.find(prefix); at != std::string_view::npos;
         at = text.find(prefix, end)) {
        end = at + prefix.size();
        const auto skip_digits = [&] {
            const std::size_t begin = end;
            while (end < text.size() && is_digit(text[end])) {
                ++end;
            }
            return end > begin;
        };
        if ((at > 0 && is_word(text[at - 1])) || !skip_digits() || end == text.size() ||
            text[end] != '-') {
            continue;
        }
        ++end;
        if (skip_digits() && (end == text.size() || !is_word(text[end]))) {
            found.push_back(text.substr(at, end - at));
        }
    }
    return found;
}

/// Higher is more severe; 0 is unknown.
std::size_t rank_of(const std::string& severity) {
    static constexpr std::array<const char*, 4> ranks = {"Low", "Moderate", "Important",
                                                         "Critical"};
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (strcasecmp(severity.c_str(), ranks[i]) == 0) {
            return i + 1;
        }
    }
    return 0;
}

/// Calls `function` for every element of an array of structures, with SOLVID_POS set to the
/// element.
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

/// Reads advisories into a separate pool, because libsolv would consider them when solving.
class AdvisoryReader {
public:
    explicit AdvisoryReader(std::set<std::string> names)
        : pool_(pool_create()), names_(std::move(names)) {
        pool_setdisttype(pool_.get(), DISTTYPE_RPM);
    }

    void add(const RepositoryMetadata& metadata) {
        load_advisories(metadata, repo_create(pool_.get(), metadata.resolved.id.c_str()));
    }

    [[nodiscard]] std::vector<KernelAdvisory> security_advisories() {
        std::vector<KernelAdvisory> found;
        for_each_security_patch([&](Id id, Solvable* patch) {
            const std::string evr = newest_kernel(id);
            if (!evr.empty()) {
                found.push_back({read(id, patch), evr});
            }
        });
        return found;
    }

    /// Adds advisories that name one of `packages` to `found`, by id.
    void collect_fixed(const std::vector<ResolvedPackage>& packages,
                       std::map<std::string, FixedAdvisory>& found) {
        std::map<Id, std::vector<const Nevra*>> by_name;
        for (const ResolvedPackage& package : packages) {
            if (const Id name = pool_str2id(pool_.get(), package.nevra.name.c_str(), 0)) {
                by_name[name].push_back(&package.nevra);
            }
        }
        for_each_security_patch([&](Id id, Solvable* patch) {
            const std::set<std::string> fixed = fixed_packages(id, by_name);
            if (fixed.empty()) {
                return;
            }
            FixedAdvisory& advisory = found[id_of(patch)];
            advisory.id = id_of(patch);
            const std::string severity = severity_of(patch);
            if (advisory.severity.empty() || rank_of(severity) > rank_of(advisory.severity)) {
                advisory.severity = severity;
            }
            std::set<std::string> all(advisory.packages.begin(), advisory.packages.end());
            all.insert(fixed.begin(), fixed.end());
            advisory.packages.assign(all.begin(), all.end());
            if (advisory.references.empty()) {
                advisory.references = references(id);
            }
        });
    }

private:
    /// Skips retracted advisories.
    template <typename Function>
    void for_each_security_patch(const Function& function) {
        for (Id id = 2; id < pool_->nsolvables; ++id) {
            Solvable* patch = pool_id2solvable(pool_.get(), id);
            if (patch->repo != nullptr &&
                text_of(solvable_lookup_str(patch, SOLVABLE_PATCHCATEGORY)) == "security" &&
                text_of(solvable_lookup_str(patch, UPDATE_STATUS)) != "retracted") {
                function(id, patch);
            }
        }
    }

    /// NEVRAs of packages in `by_name` that an advisory names.
    std::set<std::string> fixed_packages(Id id,
                                         const std::map<Id, std::vector<const Nevra*>>& by_name) {
        std::set<std::string> fixed;
        for_each_element(pool_.get(), id, UPDATE_COLLECTION, [&] {
            const auto found =
                by_name.find(pool_lookup_id(pool_.get(), SOLVID_POS, UPDATE_COLLECTION_NAME));
            const Id evr = pool_lookup_id(pool_.get(), SOLVID_POS, UPDATE_COLLECTION_EVR);
            const Id arch = pool_lookup_id(pool_.get(), SOLVID_POS, UPDATE_COLLECTION_ARCH);
            if (found == by_name.end() || evr == 0 || arch == 0) {
                return;
            }
            for (const Nevra* nevra : found->second) {
                if (nevra->arch == pool_id2str(pool_.get(), arch) &&
                    nevra->evr() == pool_id2str(pool_.get(), evr)) {
                    fixed.insert(nevra->text());
                }
            }
        });
        return fixed;
    }

    /// One reference for each CVE, sorted by URL (see `fixed_advisories`).
    std::vector<FixedAdvisory::Reference> references(Id id) {
        std::set<FixedAdvisory::Reference> bugs;
        std::set<FixedAdvisory::Reference> others;
        for_each_element(pool_.get(), id, UPDATE_REFERENCE, [&] {
            const auto text = [&](Id key) {
                return text_of(pool_lookup_str(pool_.get(), SOLVID_POS, key));
            };
            const std::string type = text(UPDATE_REFERENCE_TYPE);
            const std::string url = text(UPDATE_REFERENCE_HREF);
            if (type == "bugzilla" && !url.empty()) {
                bugs.insert({url, text(UPDATE_REFERENCE_TITLE)});
            } else if (type == "cve" && !url.empty()) {
                others.insert({url, text(UPDATE_REFERENCE_ID)});
            }
        });
        std::set<std::string> known;
        std::vector<FixedAdvisory::Reference> result;
        for (const auto* list : {&bugs, &others}) {
            for (const FixedAdvisory::Reference& reference : *list) {
                if (names_new_cve(reference.title, known)) {
                    result.push_back(reference);
                }
            }
        }
        std::sort(result.begin(), result.end());
        return result;
    }

    /// Whether a title names a CVE that is not in `known`; adds all that it names.
    static bool names_new_cve(const std::string& title, std::set<std::string>& known) {
        bool any = false;
        for (const std::string_view cve : cves_in(title)) {
            any = known.emplace(cve).second || any;
        }
        return any;
    }

    std::string id_of(Solvable* patch) {
        constexpr std::string_view prefix = "patch:";
        std::string id = pool_id2str(pool_.get(), patch->name);
        if (id.starts_with(prefix)) {
            id.erase(0, prefix.size());
        }
        return id;
    }

    static std::string severity_of(Solvable* patch) {
        std::string severity = text_of(solvable_lookup_str(patch, UPDATE_SEVERITY));
        return severity == "None" ? "" : severity;
    }

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
        Advisory advisory;
        advisory.id = id_of(patch);
        advisory.severity = severity_of(patch);
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
        // Advisories are only informative: failures do not end a build.
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
    std::vector<PassedOver> result = mapped(passed, [&](const PassedKernel& kernel) {
        return PassedOver{
            fmt::format("kernel {}", pool.nevra(kernel.kernel).text()), kernel.reason, {}};
    });
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

std::vector<FixedAdvisory> fixed_advisories(const Context& ctx, const PackagePool& pool,
                                            const std::vector<ResolvedPackage>& packages) {
    std::map<std::string, FixedAdvisory> found;
    for (RepositoryMetadata metadata : pool.repositories()) {
        ctx.check_cancelled();
        const auto unknown = [&](const std::string& why) {
            ctx.console->warn(
                fmt::format("repository '{}': the commit does not name the advisories that its "
                            "packages fix: {}",
                            metadata.resolved.id, why));
        };
        try {
            if (!load_updateinfo(ctx, metadata)) {
                unknown("they are not in the cache");
            } else if (!metadata.updateinfo.empty()) {
                AdvisoryReader reader({});
                reader.add(metadata);
                reader.collect_fixed(packages, found);
            }
        } catch (const Error& problem) {
            if (problem.kind() == ErrorKind::interrupted) {
                throw;
            }
            unknown(problem.message());
        }
    }
    std::vector<FixedAdvisory> result;
    result.reserve(found.size());
    for (auto& [id, advisory] : found) {
        result.push_back(std::move(advisory));
    }
    return result;
}

}  // namespace edgegpu
