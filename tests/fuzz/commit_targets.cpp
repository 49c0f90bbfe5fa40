#include <array>
#include <filesystem>
#include <string>

#include <sys/socket.h>
#include <unistd.h>

#include "fuzz/targets.hpp"
#include "repository/commit_view.hpp"
#include "signing/channel.hpp"
#include "support/commit_fixture.hpp"
#include "support/files/file.hpp"

namespace edgegpu::fuzz {

namespace {

/// A real repository, in which an object of the only commit is replaced.
class HostileRepository {
public:
    HostileRepository() {
        commit_ = fixture_.build().checksum;
        const CommitView view = open();
        root_ = view.root();
        const auto file = view.find("/usr/bin/tool");
        file_ = file ? file->checksum : "";
    }

    void read(const std::string& checksum, const char* suffix, std::string_view data) {
        const auto path =
            fixture_.repo() / "objects" / checksum.substr(0, 2) / (checksum.substr(2) + suffix);
        const std::string kept = read_file(path);
        write_file(path, data);
        read_or_refuse([&] {
            const CommitView view = open();
            const auto described = view.describe("/");
            for (const auto& [name, node] : view.list(view.root(), "/")) {
                read_or_refuse([&, at = &node] { static_cast<void>(view.describe(*at, "/x")); });
            }
            static_cast<void>(view.read("/usr/bin/tool", 1U << 20U));
        });
        write_file(path, kept);
    }

    [[nodiscard]] const std::string& commit() const { return commit_; }
    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] const CommitNode& root() const { return root_; }

private:
    [[nodiscard]] CommitView open() const { return RepositoryView(fixture_.repo()).open(commit_); }

    test::CommitFixture fixture_;
    std::string commit_;
    std::string file_;
    CommitNode root_;
};

HostileRepository& hostile_repository() {
    static HostileRepository made;
    return made;
}

}  // namespace

void read_ostree_commit(std::string_view data) {
    hostile_repository().read(hostile_repository().commit(), ".commit", data);
}

void read_ostree_dirtree(std::string_view data) {
    hostile_repository().read(hostile_repository().root().checksum, ".dirtree", data);
}

void read_ostree_dirmeta(std::string_view data) {
    hostile_repository().read(hostile_repository().root().meta, ".dirmeta", data);
}

void read_ostree_file(std::string_view data) {
    hostile_repository().read(hostile_repository().file(), ".filez", data);
}

void read_signing_message(std::string_view data) {
    std::array<int, 2> ends{};
    // More than this would wait for somebody to read it.
    if (data.size() > 65536 ||
        ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        return;
    }
    Channel channel{Fd(ends[0])};
    Fd writer(ends[1]);
    [[maybe_unused]] const ssize_t put = ::write(writer.get(), data.data(), data.size());
    writer.reset();
    read_or_refuse([&] {
        while (channel.receive(1U << 20U)) {
        }
    });
}

}  // namespace edgegpu::fuzz
