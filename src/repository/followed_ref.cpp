#include "repository/followed_ref.hpp"

#include <map>

#include "support/error.hpp"

namespace edgegpu {

std::string followed_ref(const RepositoryView& repository, const CommitView& commit) {
    std::string name = commit.info().name;
    while (name.ends_with('^')) {
        name.pop_back();
    }
    const std::map<std::string, std::string> refs = repository.refs();
    if (!refs.contains(name)) {
        name.clear();
        for (const auto& [ref, checksum] : refs) {
            if (checksum == commit.info().checksum) {
                if (!name.empty()) {
                    throw error(ErrorKind::usage, "commit {} has several refs: {}, {}",
                                commit.info().checksum, name, ref)
                        .hinted("name it by the ref that the device is to follow");
                }
                name = ref;
            }
        }
    }
    const std::size_t remote = name.find(':');
    return remote == std::string::npos ? name : name.substr(remote + 1);
}

}  // namespace edgegpu
