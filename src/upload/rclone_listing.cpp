#include <algorithm>
#include <charconv>
#include <ctime>

#include <nlohmann/json.hpp>

#include "support/error.hpp"
#include "support/text/text.hpp"
#include "upload/rclone.hpp"

namespace edgegpu {

FileSizes RcloneRemote::list() const {
    return list_files(remote_, {"--recursive", "--files-only", "--fast-list"});
}

FileSizes RcloneRemote::list_directory(const std::string& name) const {
    return list_files(path_of(name), {});
}

FileSizes RcloneRemote::list_files(const std::string& place,
                                   std::vector<std::string> options) const {
    options.insert(options.begin(), "lsf");
    options.insert(options.end(), {"--format=sp", "--separator=;", "--", place});
    // A directory that is not there among others that are is a failure, too: what is missing would
    // be sent again.
    const Run done = run_until_done(options, "list", "its files", [](const Run& ended) {
        return ended.status == 0 || (ended.status == no_directory && ended.output.empty());
    });
    FileSizes files;
    for (const std::string_view line :
         done.status == 0 ? lines_of(done.output) : std::vector<std::string_view>()) {
        const std::size_t separator = line.find(';');
        if (separator == std::string_view::npos) {
            continue;
        }
        // Directories have none, or -1.
        const bool is_directory = line.ends_with('/');
        std::uint64_t size = 0;
        if (is_directory || std::from_chars(line.data(), line.data() + separator, size).ptr ==
                                line.data() + separator) {
            files.emplace(line.substr(separator + 1), size);
        }
    }
    return files;
}

std::string RcloneRemote::path_of(const std::string& name) const {
    const bool joined = name.empty() || remote_.ends_with('/') || remote_.ends_with(':');
    return remote_ + (joined ? "" : "/") + name;
}

const nlohmann::json& RcloneRemote::features() const {
    if (!features_) {
        const Run done = run({"backend", "features", "--", remote_}, "what it can do");
        if (done.status != 0) {
            throw to_error("use", problem_in(done.messages));
        }
        features_ = nlohmann::json::parse(done.output, nullptr, false);
    }
    return *features_;
}

bool RcloneRemote::has_hashes() const {
    if (!has_hashes_) {
        const nlohmann::json& known = features();
        has_hashes_ = known.is_object() && known.contains("Hashes") && known["Hashes"].is_array() &&
                      !known["Hashes"].empty();
    }
    return *has_hashes_;
}

bool RcloneRemote::is_s3() const {
    // "S3 bucket NAME path PATH"
    const nlohmann::json text =
        features().is_object() ? features().value("String", nlohmann::json()) : nlohmann::json();
    return text.is_string() && text.get<std::string>().starts_with("S3 ");
}

std::map<std::string, std::string> RcloneRemote::cache_control(
    const std::vector<std::string>& names) const {
    constexpr const char* key = "cache-control";
    const nlohmann::json system =
        features().is_object()
            ? features().value("/MetadataInfo/System"_json_pointer, nlohmann::json())
            : nlohmann::json();
    std::map<std::string, std::string> headers;
    if (names.empty() || !system.is_object() || !system.contains(key)) {
        return headers;
    }
    const Run done = run_until_done(
        {"lsjson", "--recursive", "--files-only", "--no-traverse", "--metadata",
         "--files-from-raw=" + list_file(names), "--", remote_},
        "list", "headers of its files", [](const Run& ended) { return ended.status == 0; });
    const nlohmann::json list = nlohmann::json::parse(done.output, nullptr, false);
    for (const nlohmann::json& entry : list.is_array() ? list : nlohmann::json::array()) {
        const nlohmann::json metadata =
            entry.is_object() ? entry.value("Metadata", nlohmann::json()) : nlohmann::json();
        if (entry.is_object() && entry.value("Path", nlohmann::json()).is_string()) {
            const nlohmann::json value =
                metadata.is_object() ? metadata.value(key, nlohmann::json()) : nlohmann::json();
            headers[entry["Path"].get<std::string>()] =
                value.is_string() ? value.get<std::string>() : std::string();
        }
    }
    return headers;
}

std::optional<std::chrono::system_clock::time_point> RcloneRemote::newest(
    const std::vector<std::string>& names) const {
    const Run done = run_until_done(
        {"lsf", "--recursive", "--files-only", "--no-traverse", "--format=t",
         "--files-from-raw=" + list_file(names), "--", remote_},
        "list", "when it was changed", [](const Run& ended) { return ended.status == 0; });
    std::optional<std::chrono::system_clock::time_point> newest;
    for (const std::string_view line : lines_of(done.output)) {
        std::tm parts{};
        // The environment says UTC.
        if (::strptime(std::string(line).c_str(), "%Y-%m-%d %H:%M:%S", &parts) != nullptr) {
            const auto time = std::chrono::system_clock::from_time_t(::timegm(&parts));
            newest = newest ? std::max(*newest, time) : time;
        }
    }
    return newest;
}

}  // namespace edgegpu
