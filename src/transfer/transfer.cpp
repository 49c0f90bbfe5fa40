#include "transfer/transfer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "support/files/file.hpp"
#include "transfer/scheduler.hpp"
#include "transfer/url.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

using Kind = TransferFailureKind;

/// Messages of `accept` already name the repository.
std::string without_repository(const Repository& repository, const std::string& reason) {
    const std::string name = fmt::format("repository '{}': ", repository.id);
    return reason.starts_with(name) ? reason.substr(name.size()) : reason;
}

/// One warning per mirror that failed for files that another mirror delivered.
void warn_of_mirrors(const Context& ctx, const Repository& repository,
                     const std::vector<TransferResult>& results) {
    struct Fault {
        const TransferFailure* first;
        std::size_t files;
    };
    std::map<std::size_t, Fault> faults;
    for (const TransferResult& result : results) {
        for (const TransferFailure& failure : result.failures) {
            if (result.done && failure.mirror != result.mirror) {
                ++faults.emplace(failure.mirror, Fault{&failure, 0}).first->second.files;
            }
        }
    }
    for (const auto& [mirror, fault] : faults) {
        const std::string how_many =
            fault.files > 1 ? fmt::format(", for {} files", fault.files) : "";
        ctx.console->warn(fmt::format(
            "repository '{}': {}: {}; another mirror was used{}", repository.id, fault.first->url,
            without_repository(repository, fault.first->reason), how_many));
    }
}

/// A file in the cache, deleted with this object.
class TemporaryFile {
public:
    explicit TemporaryFile(const fs::path& directory) {
        make_directories(directory);
        // The cache is cleaned of files with such names if edgegpu is killed.
        path_ = (directory / ".new-XXXXXX").string();
        const Fd fd(::mkostemp(path_.data(), O_CLOEXEC));
        if (!fd) {
            throw errno_error(path_, errno);
        }
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() { ::unlink(path_.c_str()); }
    [[nodiscard]] fs::path path() const { return path_; }

private:
    std::string path_;
};

std::string hint_of(const std::vector<TransferFailure>& failures) {
    for (const TransferFailure& failure : failures) {
        if (!failure.hint.empty()) {
            return failure.hint;
        }
    }
    const auto all = [&](Kind kind) {
        return std::ranges::all_of(
            failures, [&](const TransferFailure& failure) { return failure.kind == kind; });
    };
    if (all(Kind::unreachable)) {
        return "check the URL of the repository, and whether a proxy is needed: proxy of the "
               "repository, or http_proxy and https_proxy of the environment";
    }
    if (std::ranges::any_of(
            failures, [](const TransferFailure& failure) { return failure.kind == Kind::wrong; })) {
        return "the mirror may be in the middle of an update: try again later, or use another "
               "mirror";
    }
    return all(Kind::broken) ? "try again later, or use another mirror"
                             : "check the URL of the repository";
}

}  // namespace

std::vector<TransferResult> transfer(const Context& ctx, const Repository& repository,
                                     const std::vector<std::string>& mirrors,
                                     const std::vector<WantedFile>& files,
                                     const OnTransferred& on_transferred) {
    TransferScheduler scheduler(ctx, repository, mirrors, files, on_transferred);
    std::vector<TransferResult> results = scheduler.run();
    warn_of_mirrors(ctx, repository, results);
    return results;
}

std::string transfer_text(const Context& ctx, const Repository& repository, const std::string& url,
                          std::uint64_t limit, const std::string& what) {
    const TemporaryFile file(ctx.cache / "repos");
    WantedFile wanted;
    wanted.location = url;
    wanted.destination = file.path();
    wanted.promise.limit = limit;
    const std::vector<TransferResult> results = transfer(ctx, repository, {}, {wanted});
    if (!results.front().done) {
        throw transfer_error(repository, fmt::format("{} {}", what, redacted(url)),
                             results.front());
    }
    return read_file(file.path(), limit);
}

Error transfer_error(const Repository& repository, const std::string& name,
                     const TransferResult& result) {
    constexpr std::size_t most_lines = 5;
    const std::vector<TransferFailure>& failures = result.failures;
    // The error of `accept`, or one about the file itself, is more informative than that another
    // mirror does not have it.
    auto told = std::ranges::find_if(
        failures, [](const TransferFailure& failure) { return failure.error.has_value(); });
    if (told == failures.end()) {
        told = std::ranges::find_if(failures,
                                    [](const TransferFailure& failure) { return failure.of_file; });
    }
    Error problem = error(ErrorKind::fetch, "repository '{}': cannot get {}", repository.id, name);
    if (told != failures.end()) {
        problem = told->error ? *told->error
                              : error(ErrorKind::fetch, "repository '{}': {} {}", repository.id,
                                      name, told->reason);
    }
    std::size_t lines = 0;
    for (auto failure = failures.begin(); failure != failures.end(); ++failure) {
        if (++lines > most_lines) {
            problem.traced(fmt::format("and {} more mirrors", failures.size() - most_lines));
            break;
        }
        problem.traced(failure == told
                           ? "from " + failure->url
                           : fmt::format("{}: {}", failure->url,
                                         without_repository(repository, failure->reason)));
    }
    problem.traced("repository defined at " + repository.location.text());
    if (problem.hint().empty()) {
        problem.hinted(hint_of(failures));
    }
    return problem;
}

}  // namespace edgegpu
