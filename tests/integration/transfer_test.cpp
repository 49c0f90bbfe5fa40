// Files from servers that work (nginx) and from one that does what servers should not, all on the
// loopback interface.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>

#include <fcntl.h>
#include <sys/file.h>

#include "support/files/file.hpp"
#include "support/web_server.hpp"
#include "transfer/transfer.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

/// 200,000 bytes that repeat nowhere.
std::string big_content() {
    std::string text;
    for (int i = 0; text.size() < 200000; ++i) {
        text += std::to_string(i * 7919) + "\n";
    }
    return text.substr(0, 200000);
}

class TransferFiles : public testing::Test {
protected:
    static void SetUpTestSuite() {
        site_ = new test::TemporaryDirectory;
        write_file(site_->path() / "big", big_content());
        write_file(site_->path() / "small", "hello");
        fs::create_directories(site_->path() / "good");
        fs::create_directories(site_->path() / "other");
        write_file(site_->path() / "good/big", big_content());
        write_file(site_->path() / "good/small", "hello");
        nginx_ = new test::Nginx(site_->path());
        odd_ = new test::OddServer(site_->path());
    }
    static void TearDownTestSuite() {
        delete odd_;
        delete nginx_;
        delete site_;
    }

    TransferFiles() : console_(Color::never, true) {
        ctx_.cache = cache_.path();
        ctx_.console = &console_;
        repository_.id = "web";
        repository_.location = {"/blueprint.toml", 3, 1};
        repository_.transfer.retries = 2;
        repository_.transfer.timeout = 20;
    }

    static std::string content(const std::string& name) { return read_file(site_->path() / name); }
    [[nodiscard]] fs::path here(const std::string& name) const { return cache_.path() / name; }
    /// With everything that metadata would say of it.
    [[nodiscard]] WantedFile wanted(const std::string& name) const {
        WantedFile file;
        file.location = name;
        file.destination = here(name);
        file.promise.size = content(name).size();
        file.promise.checksum = checksum_of(content(name), ChecksumAlgorithm::sha512);
        return file;
    }
    std::vector<TransferResult> get_all(const std::vector<std::string>& mirrors,
                                        const std::vector<WantedFile>& files,
                                        const std::function<void(std::size_t)>& tell = {}) {
        repository_.baseurls = mirrors;
        return transfer(ctx_, repository_, mirrors, files, tell);
    }
    TransferResult get(const std::vector<std::string>& mirrors, const WantedFile& file) {
        const auto begin = std::chrono::steady_clock::now();
        TransferResult result = get_all(mirrors, {file}).front();
        seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        EXPECT_EQ(result.done, fs::exists(file.destination));
        return result;
    }
    /// Why the file of that one mirror is not taken.
    std::string reason(const std::string& mirror, const WantedFile& file) {
        const TransferResult result = get({mirror}, file);
        EXPECT_FALSE(result.done);
        return result.failures.size() == 1 ? result.failures.front().reason : "not one failure";
    }
    /// The small file, of which nothing is promised.
    [[nodiscard]] WantedFile unknown() const {
        WantedFile file = wanted("small");
        file.promise = {};
        file.promise.limit = 1000000;
        return file;
    }
    /// That mirror fails with `why`, and the next one is taken.
    void expect_passed_over(const std::string& way, const std::string& name,
                            const std::string& why) {
        const std::string bad = odd_->url() + "/" + way;
        const TransferResult result = get({bad, nginx_->url()}, wanted(name));
        EXPECT_TRUE(result.done) << way;
        EXPECT_EQ(result.mirror, 1U);
        EXPECT_EQ(read_file(here(name)), content(name));
        const std::string text =
            "repository 'web': " + bad + "/" + name + ": " + why + "; another mirror was used";
        EXPECT_EQ(console_.warnings(), std::vector<std::string>{text});
    }

    static test::TemporaryDirectory* site_;
    static test::Nginx* nginx_;
    static test::OddServer* odd_;
    test::TemporaryDirectory cache_;
    Console console_;
    Context ctx_;
    Repository repository_;
    double seconds_ = 0;
};

test::TemporaryDirectory* TransferFiles::site_ = nullptr;
test::Nginx* TransferFiles::nginx_ = nullptr;
test::OddServer* TransferFiles::odd_ = nullptr;

TEST_F(TransferFiles, ComeFromNginx) {
    EXPECT_TRUE(get({nginx_->url()}, wanted("big")).done);
    EXPECT_EQ(read_file(here("big")), content("big"));
    EXPECT_FALSE(fs::exists(here("big.part")));
    EXPECT_TRUE(console_.warnings().empty());
}

TEST_F(TransferFiles, ManyComeAtOnce) {
    std::vector<WantedFile> files;
    for (int i = 0; i < 100; ++i) {
        files.push_back(wanted("big"));
        files.back().destination = here(std::to_string(i));
    }
    std::size_t told = 0;
    const auto results = get_all({nginx_->url()}, files, [&](std::size_t) { ++told; });
    EXPECT_EQ(told, 100U);
    for (std::size_t i = 0; i < files.size(); ++i) {
        EXPECT_TRUE(results[i].done);
        EXPECT_EQ(read_file(files[i].destination), content("big"));
    }
}

TEST_F(TransferFiles, ThreeAtATimeFromOneServer) {
    std::vector<WantedFile> files(12, wanted("small"));
    for (std::size_t i = 0; i < files.size(); ++i) {
        files[i].destination = here(std::to_string(i));
    }
    const auto results = get_all({odd_->url() + "/held"}, files);
    EXPECT_TRUE(results.back().done);
    EXPECT_EQ(odd_->count("ACTIVE"), 12);
    EXPECT_EQ(odd_->count("ACTIVE 4"), 0) << odd_->log();
    EXPECT_GE(odd_->count("ACTIVE 2"), 1) << odd_->log();
}

TEST_F(TransferFiles, WebPageIsPassedOver) {
    expect_passed_over("html", "big", "answers with a web page instead of the file");
}
TEST_F(TransferFiles, WebPageIsPassedOverWhereNothingIsPromised) {
    EXPECT_EQ(reason(odd_->url() + "/html", unknown()),
              "answers with a web page instead of the file");
}
TEST_F(TransferFiles, EmptyAnswerIsPassedOver) {
    expect_passed_over("empty", "small", "has 0 bytes, but the repository promises 5");
}
TEST_F(TransferFiles, RedirectsInACircleArePassedOver) {
    expect_passed_over("loop", "small", "redirects more than 10 times, perhaps in a loop");
}
TEST_F(TransferFiles, RedirectsToFilesAreNotFollowed) {
    EXPECT_EQ(reason(odd_->url() + "/tofile", wanted("small")),
              "leads to something that is neither http nor https");
}
TEST_F(TransferFiles, BusyServerThatAsksForTooMuchPatienceIsPassedOver) {
    expect_passed_over("later", "small",
                       "answers 503 (service unavailable), and asks to wait 3600 s");
}

TEST_F(TransferFiles, WrongTypeOfContentIsNoMatter) {
    EXPECT_TRUE(get({odd_->url() + "/typed"}, wanted("big")).done);
}

TEST_F(TransferFiles, RedirectsAreFollowed) {
    const std::string port = std::to_string(nginx_->port());
    EXPECT_TRUE(get({odd_->url() + "/to/" + port + "/good"}, wanted("big")).done);
}

TEST_F(TransferFiles, CutOffIsContinuedOnTheSameServer) {
    EXPECT_TRUE(get({odd_->url() + "/cut"}, wanted("big")).done);
    EXPECT_EQ(read_file(here("big")), content("big"));
    EXPECT_EQ(odd_->count("206 /cut/big"), 1);
}

TEST_F(TransferFiles, CutOffIsContinuedOnTheNextServer) {
    EXPECT_TRUE(get({odd_->url() + "/halved", nginx_->url()}, wanted("big")).done);
    EXPECT_EQ(read_file(here("big")), content("big"));
    EXPECT_EQ(nginx_->count("\"GET /big HTTP/1.1\" 206 100000"), 1);
}

TEST_F(TransferFiles, CutOffIsNotContinuedWithoutChecksum) {
    write_file(site_->path() / "other/big", std::string(200000, 'x'));
    WantedFile file = wanted("big");
    file.promise.checksum.reset();
    EXPECT_TRUE(get({odd_->url() + "/halved", nginx_->url() + "/other"}, file).done);
    EXPECT_EQ(read_file(here("big")), std::string(200000, 'x'));
}

TEST_F(TransferFiles, ServerThatIgnoresRangesIsTriedAsOftenAsAllowed) {
    const int before = odd_->count("200 /halved/big");
    EXPECT_TRUE(reason(odd_->url() + "/halved", wanted("big"))
                    .starts_with("broke off after 100000 of 200000 bytes: "));
    EXPECT_EQ(odd_->count("200 /halved/big") - before, 3);
    EXPECT_GE(seconds_, 0.6);  // 0.2 s, 0.4 s
    EXPECT_EQ(fs::file_size(here("big.part")), 100000U);
}

TEST_F(TransferFiles, SameBytesAgainAreNoGain) {
    write_file(site_->path() / "huge", std::string(3200000, 'x'));
    EXPECT_TRUE(reason(odd_->url() + "/halved", wanted("huge"))
                    .starts_with("broke off after 1600000 of 3200000 bytes: "));
    EXPECT_EQ(odd_->count("200 /halved/huge"), 4);  // the first brought much
}

TEST_F(TransferFiles, BusyServerIsAskedAgain) {
    EXPECT_TRUE(get({odd_->url() + "/busy"}, wanted("small")).done);
    EXPECT_GE(seconds_, 1.0);
}

TEST_F(TransferFiles, SlowServerIsGivenUp) {
    repository_.transfer.timeout = 2;
    repository_.transfer.minrate = 100000;
    const TransferResult result =
        get({nginx_->url() + "/slow", odd_->url() + "/plain"}, wanted("big"));
    EXPECT_TRUE(result.done);
    EXPECT_EQ(result.mirror, 1U);
    EXPECT_LT(seconds_, 15);
    ASSERT_EQ(console_.warnings().size(), 1U);
    EXPECT_NE(console_.warnings()[0].find("sends less than 100000 bytes a second for 2 s"),
              std::string::npos)
        << console_.warnings()[0];
}

TEST_F(TransferFiles, EndlessAnswersEndAtWhatIsPromised) {
    WantedFile file = wanted("big");
    EXPECT_EQ(reason(odd_->url() + "/endless", file),
              "sends more than the 200000 bytes that the repository promises");
    file.promise = {};
    file.promise.limit = 100000;
    EXPECT_EQ(reason(odd_->url() + "/endless", file),
              "sends more than 100000 bytes, the limit for such a file");
    EXPECT_FALSE(fs::exists(here("big.part")));
}

TEST_F(TransferFiles, AnotherSizeIsNotEvenTransferred) {
    WantedFile file = wanted("big");
    file.promise.size = 3;
    EXPECT_EQ(reason(nginx_->url(), file), "has 200000 bytes, but the repository promises 3");
}

TEST_F(TransferFiles, PartsThatDoNotFitAreThrownAway) {
    write_file(here("big.part"), std::string(1000, 'x'));
    EXPECT_TRUE(get({nginx_->url()}, wanted("big")).done);
    EXPECT_EQ(read_file(here("big")), content("big"));
    fs::remove(here("big"));
    write_file(here("big.part"), std::string(300000, 'x'));
    EXPECT_TRUE(get({nginx_->url()}, wanted("big")).done);
    fs::remove(here("big"));
    write_file(here("big.part"), std::string(200000, 'x'));
    EXPECT_TRUE(get({nginx_->url()}, wanted("big")).done);
    EXPECT_EQ(read_file(here("big")), content("big"));
}

TEST_F(TransferFiles, PartOfAnotherProcessIsLeftAlone) {
    write_file(here("big.part"), "theirs");
    const Fd theirs(::open(here("big.part").c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(::flock(theirs.get(), LOCK_EX), 0);
    EXPECT_TRUE(get({nginx_->url()}, wanted("big")).done);
    EXPECT_EQ(read_file(here("big.part")), "theirs");
}

TEST_F(TransferFiles, SameFileMayBeWantedTwice) {
    const std::vector<WantedFile> files(4, wanted("big"));
    for (const TransferResult& result : get_all({nginx_->url()}, files)) {
        EXPECT_TRUE(result.done);
    }
    EXPECT_EQ(read_file(here("big")), content("big"));
    EXPECT_EQ(std::distance(fs::directory_iterator(cache_.path()), {}), 1);
}

TEST_F(TransferFiles, ServerThatIsGone) {
    std::string gone;
    {
        const test::OddServer other(site_->path());
        gone = other.url();
    }
    const TransferResult result = get({gone + "/plain"}, wanted("small"));
    EXPECT_TRUE(result.failures.at(0).reason.starts_with("cannot be reached: "));
    EXPECT_EQ(result.failures.at(0).kind, TransferFailureKind::unreachable);
    EXPECT_LT(seconds_, 10);
}

TEST_F(TransferFiles, CancelledTransferEnds) {
    const std::atomic<bool> stop{true};
    ctx_.cancelled = &stop;
    try {
        (void)get_all({odd_->url() + "/drip"}, {wanted("big")});
        ADD_FAILURE() << "it went on";
    } catch (const Error& problem) {
        EXPECT_EQ(problem.kind(), ErrorKind::interrupted);
    }
}

TEST_F(TransferFiles, FirstFileThatNobodyHasEndsTheWhole) {
    std::vector<WantedFile> files{wanted("small"), wanted("big")};
    files[0].location = "nothing";
    const auto results = get_all({nginx_->url()}, files);
    EXPECT_FALSE(results[0].done);
    EXPECT_EQ(transfer_error(repository_, "small", results[0]).render(),
              "error: repository 'web': cannot get small\n  " + nginx_->url() +
                  "/nothing: answers 404 (not found)\n  repository defined at "
                  "/blueprint.toml:3:1\nhint: check the URL of the repository\n");
}

TEST_F(TransferFiles, FilesOfThisMachineAreCopied) {
    EXPECT_TRUE(get({"file://" + site_->path().string()}, wanted("big")).done);
    EXPECT_EQ(read_file(here("big")), content("big"));
    EXPECT_EQ(reason(site_->path().string() + "/nowhere", wanted("small")),
              "cannot be read: No such file or directory");
}

TEST_F(TransferFiles, OfflineAsksNobody) {
    ctx_.offline = true;
    try {
        (void)transfer(ctx_, repository_, {nginx_->url()}, {wanted("small")});
        ADD_FAILURE() << "it was transferred";
    } catch (const Error& problem) {
        EXPECT_EQ(problem.message(), "repository 'web': " + nginx_->url() +
                                         "/small is needed, and --offline forbids it");
    }
}

}  // namespace
}  // namespace edgegpu
