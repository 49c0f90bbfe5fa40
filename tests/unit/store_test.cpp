#include "cache/store.hpp"

#include <array>
#include <filesystem>
#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/error.hpp"
#include "support/files/build_id.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"
#include "support/text/text.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

constexpr StoreKind letters{"letters", EntryKind::depmod};

class StoreTest : public testing::Test {
protected:
    StoreTest() {
        ConsoleOutput output;
        output.write = [this](std::string_view text) { shown_ += text; };
        console_ = std::make_unique<Console>(output);
        ctx_.cache = directory_.path() / "cache";
        ctx_.console = console_.get();
    }

    /// What `find_or_make` returns: "made", or what the cache has.
    std::string get(const StoreKind& kind = letters, const std::string& key = "ab") {
        return find_or_make(
            ctx_, kind, key, "is writing letters",
            [](const StoredEntry& entry) -> std::optional<std::string> {
                const std::string* text = entry.find("letter");
                return text != nullptr ? std::optional(*text) : std::nullopt;
            },
            [&](NewEntry& entry) -> std::string {
                ++made_;
                entry.add("letter", "kept");
                entry.add("stamp", "");
                if (ctx_.console != nullptr) {
                    ctx_.console->note("2 of 3 letters");
                    ctx_.console->warn("a letter is late");
                    ctx_.console->warn_of("lost", "one");
                    ctx_.console->note_now("waiting for ink");
                }
                return "made";
            });
    }
    /// Whether an entry that `damage` was done to is made again, and is good after that.
    void expect_made_again(const std::string& what,
                           const std::function<void(const fs::path&)>& damage) {
        remove_tree(ctx_.cache);
        EXPECT_EQ(get(), "made") << what;
        damage(entry_);
        EXPECT_FALSE(find_stored(ctx_, letters, "ab")) << what;
        EXPECT_EQ(get(), "made") << what;
        EXPECT_EQ(get(), "kept") << what;
    }
    static void change(const fs::path& file, const std::function<void(std::string&)>& edit) {
        std::string text = read_file(file);
        edit(text);
        write_file(file, text);
    }

    test::TemporaryDirectory directory_;
    std::string shown_;
    std::unique_ptr<Console> console_;
    Context ctx_;
    fs::path entry_ = directory_.path() / "cache/letters" / ("ab-" + program_identity());
    int made_ = 0;
};

TEST_F(StoreTest, WhatWasMadeIsFoundAndSaysTheSame) {
    EXPECT_EQ(get(), "made");
    const std::string first = shown_;
    EXPECT_EQ(
        first,
        "  2 of 3 letters\nwarning: a letter is late\nwarning: lost: one\n  waiting for ink\n");
    shown_.clear();
    console_ = std::make_unique<Console>([&] {
        ConsoleOutput output;
        output.write = [this](std::string_view text) { shown_ += text; };
        return output;
    }());
    ctx_.console = console_.get();
    EXPECT_EQ(get(), "kept");
    EXPECT_EQ(shown_, "  2 of 3 letters\nwarning: a letter is late\nwarning: lost: one\n");
    EXPECT_EQ(made_, 1);
    EXPECT_EQ(get(letters, "cd"), "made");
}

TEST_F(StoreTest, TheLogHasEachLookAndWhatWasMade) {
    ctx_.log = Log("test");
    ctx_.log.add_file(directory_.path() / "log", LogFormat::text);
    static_cast<void>(get());
    static_cast<void>(get());
    write_file(entry_ / "letter", "other");
    static_cast<void>(get());
    std::string messages;
    const std::string log = read_file(directory_.path() / "log");
    for (const std::string_view line : lines_of(log)) {
        if (const std::size_t at = line.find("cache "); at != std::string_view::npos) {
            messages += std::string(line.substr(at)) + '\n';
        }
    }
    const std::string absent = "cache miss kind=letters key=ab why=absent\n";
    const std::string damaged = "cache miss kind=letters key=ab why=damaged\n";
    const std::string made = "cache entry made kind=letters key=ab\n";
    // Once more with the entry's lock.
    EXPECT_EQ(messages, absent + absent + made + "cache hit kind=letters key=ab\n" + damaged +
                            damaged + made);
}

TEST_F(StoreTest, DamagedEntryIsMadeAgain) {
    expect_made_again("a flipped bit", [](const fs::path& entry) {
        change(entry / "letter", [](std::string& text) { text[1] ^= 4; });
    });
    expect_made_again("cut off",
                      [](const fs::path& entry) { fs::resize_file(entry / "letter", 2); });
    expect_made_again("grown", [](const fs::path& entry) {
        change(entry / "letter", [](std::string& text) { text += "x"; });
    });
    expect_made_again("a file is gone", [](const fs::path& entry) { fs::remove(entry / "stamp"); });
    expect_made_again("half-written: no seal",
                      [](const fs::path& entry) { fs::remove(entry / "seal"); });
    expect_made_again("an empty seal",
                      [](const fs::path& entry) { write_file(entry / "seal", ""); });
    expect_made_again("a seal cut off", [](const fs::path& entry) {
        fs::resize_file(entry / "seal", fs::file_size(entry / "seal") - 1);
    });
    expect_made_again("each byte of the seal", [](const fs::path& entry) {
        change(entry / "seal", [](std::string& text) { text[text.size() / 2] ^= 1; });
    });
    expect_made_again("a file in the directory's place", [](const fs::path& entry) {
        remove_tree(entry);
        write_file(entry, "kept");
    });
}

TEST_F(StoreTest, EveryByteOfTheSealCounts) {
    static_cast<void>(get());
    const std::string good = read_file(entry_ / "seal");
    for (std::size_t i = 0; i < good.size(); ++i) {
        std::string text = good;
        text[i] ^= 1;
        write_file(entry_ / "seal", text);
        EXPECT_FALSE(find_stored(ctx_, letters, "ab")) << i;
    }
    write_file(entry_ / "seal", good);
    EXPECT_TRUE(find_stored(ctx_, letters, "ab"));
}

TEST_F(StoreTest, LinksAndOtherObjectsAreNoFiles) {
    const fs::path outside = directory_.path() / "outside";
    write_file(outside, "kept");
    expect_made_again("a link to the same content", [&](const fs::path& entry) {
        fs::remove(entry / "letter");
        fs::create_symlink(outside, entry / "letter");
    });
    EXPECT_EQ(read_file(outside), "kept");
    expect_made_again("a link as seal", [&](const fs::path& entry) {
        fs::rename(entry / "seal", outside);
        fs::create_symlink(outside, entry / "seal");
    });
    expect_made_again("a fifo, which nobody waits for", [](const fs::path& entry) {
        fs::remove(entry / "letter");
        ASSERT_EQ(::mkfifo((entry / "letter").c_str(), 0600), 0);
    });
    expect_made_again("a directory", [](const fs::path& entry) {
        fs::remove(entry / "letter");
        fs::create_directory(entry / "letter");
    });
}

TEST_F(StoreTest, SealedBySomebodyElse) {
    // As another version, another kind or another key would have sealed it: whole, but not ours.
    const auto reseal = [&](const std::string& from, const std::string& to) {
        expect_made_again(to, [&](const fs::path& entry) {
            change(entry / "seal", [&](std::string& text) {
                text.resize(text.size() - 65);
                const std::size_t at = text.find(from);
                ASSERT_NE(at, std::string::npos) << text;
                text.replace(at, from.size(), to);
                text += sha256_hex(text) + '\n';
            });
        });
    };
    reseal("edgegpu-entry/2", "edgegpu-entry/1");
    reseal("\"kind\": \"letters\"", "\"kind\": \"numbers\"");
    reseal("\"key\": \"ab\"", "\"key\": \"cd\"");
    reseal("\"name\": \"letter\"", "\"name\": \"../ab/letter\"");
    reseal("\"files\"", "\"sheets\"");
    reseal("{", "[{");
}

TEST_F(StoreTest, WhatAnotherBuildOfTheProgramMadeIsNotFound) {
    EXPECT_EQ(get(), "made");
    fs::rename(entry_, entry_.parent_path() / "ab-0123456789abcdef");
    EXPECT_FALSE(find_stored(ctx_, letters, "ab"));
    EXPECT_EQ(get(), "made");
}

TEST_F(StoreTest, WhatCannotBeReadIsMadeAgain) {
    static_cast<void>(get());
    const auto refuse = [](const StoredEntry&) -> std::optional<std::string> {
        return std::nullopt;
    };
    const std::string value = find_or_make(ctx_, letters, "ab", "is writing letters", refuse,
                                           [](NewEntry& entry) -> std::string {
                                               entry.add("letter", "second");
                                               return "second";
                                           });
    EXPECT_EQ(value, "second");
    EXPECT_EQ(get(), "second");
}

TEST_F(StoreTest, FailureAndForgottenResultsLeaveNothing) {
    const auto read = [](const StoredEntry&) { return std::optional<int>(1); };
    EXPECT_THROW(find_or_make(ctx_, letters, "ab", "is writing letters", read,
                              [](NewEntry& entry) -> int {
                                  entry.add("letter", "half");
                                  throw Error("out of ink");
                              }),
                 Error);
    EXPECT_EQ(find_or_make(ctx_, letters, "ab", "is writing letters", read,
                           [](NewEntry& entry) -> int {
                               entry.add("letter", "none of ours");
                               entry.forget();
                               return 2;
                           }),
              2);
    EXPECT_TRUE(fs::is_empty(ctx_.cache / "letters"));
    EXPECT_TRUE(fs::is_empty(ctx_.cache / "locks"));
}

TEST_F(StoreTest, NamesStayInTheEntry) {
    NewEntry entry(ctx_, letters, "ab");
    for (const char* name : {"", "seal", "..", "../x", "a/b", ".new-x"}) {
        EXPECT_THROW(entry.add(name, "x"), Error) << name;
    }
}

}  // namespace
}  // namespace edgegpu
