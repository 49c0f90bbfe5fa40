// What the script does with what the kernel and auditd have recorded.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/rehearsal/checks.hpp"
#include "machine_guests.hpp"

namespace edgegpu {
namespace {

using test::check_named;
using test::LocalGuest;
using test::some_commit_facts;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* no_audit = R"(
systemctl() { echo "$4=inactive"; }
auditctl() { echo 'No rules'; }
)";

std::string avc(const std::string& permissions, const std::string& rest, const std::string& source,
                const std::string& target, const std::string& object_class) {
    return "AVC avc:  denied  { " + permissions + " } for  " + rest +
           " scontext=system_u:system_r:" + source +
           ":s0-s0:c0.c1023 tcontext=system_u:object_r:" + target + ":s0 tclass=" + object_class +
           " permissive=0\n";
}

class Denials : public ::testing::Test {
protected:
    static CheckResult ask(const std::string& denials, const std::vector<AllowedDenial>& allowed) {
        LocalGuest guest;
        guest.put("/sys/fs/selinux/enforce", "1");
        guest.put("/dev/kmsg", "");
        guest.put("/proc/sys/kernel/printk_devkmsg", "off");
        guest.put("/proc/stat", "cpu 1\nbtime 1700000000\n");
        guest.put("/var/log/audit/audit.log*", "");
        const test::TemporaryDirectory directory;
        const std::string journal = directory.path() / "journal";
        write_file(journal, "audit: type=1403 audit(1700000000.1:1): lsm=selinux\n" + denials);
        guest.programs = "journalctl() { cat " + journal + "; }" + no_audit;
        return run_check(guest, check_named(some_commit_facts(), "selinux-denials", allowed));
    }
};

TEST_F(Denials, AreFailuresOncePerKind) {
    const std::string denials =
        avc("read", "pid=1 comm=\"a\"", "a_t", "b_t", "file") +
        avc("read", "pid=2 comm=\"a\"", "a_t", "b_t", "file") +
        "audit: type=1400 audit(1.1:1): " + avc("write", "pid=3", "a_t", "b_t", "dir") +
        "nothing was denied here\n";
    const CheckResult result = ask(denials, {});
    EXPECT_EQ(result.verdict, Verdict::failed);
    EXPECT_EQ(result.text, "SELinux denied something in this boot: 3 denials");
    ASSERT_EQ(result.details.size(), 2U);
    EXPECT_THAT(result.details[0], HasSubstr("pid=1 comm=\"a\" scontext="));
    EXPECT_THAT(result.details[0], HasSubstr(" (2 times)"));
    EXPECT_THAT(result.details[1], HasSubstr("{ write }"));
    EXPECT_EQ(ask("nothing", {}).text, "SELinux denied nothing in this boot");
}

TEST_F(Denials, AreAllowedAsARuleAllowsThem) {
    const std::string denials = avc("read open", "pid=1", "a_t", "b_t", "file") +
                                avc("read", "pid=2", "a_t", "b_t", "file") +
                                avc("map", "pid=3", "a_t", "a_t", "chr_file");
    const std::vector<AllowedDenial> allowed{{"a_t", "b_t", "file", {"read"}, "known: it's $1"},
                                             {"a_t", "b_t", "file", {"open", "ioctl"}, "too"},
                                             {"a_t", "self", "chr_file", {"map"}, "own"},
                                             {"a_t", "b_t", "dir", {"read"}, "not needed"}};
    const CheckResult all = ask(denials, allowed);
    EXPECT_EQ(all.verdict, Verdict::passed) << all.text;
    EXPECT_EQ(all.text, "SELinux denied nothing in this boot; 3 denials allowed by the blueprint");
    EXPECT_THAT(all.notes,
                ElementsAre("allowed, 2 denials: a_t b_t:file { read }: known: it's $1",
                            "allowed, 1 denial: a_t b_t:file { open ioctl }: too",
                            "allowed, 1 denial: a_t a_t:chr_file { map }: own",
                            "allowed, but not denied: a_t b_t:dir { read }: not needed"));
    const CheckResult part = ask(denials, {allowed[0]});
    EXPECT_EQ(part.verdict, Verdict::failed);
    EXPECT_EQ(part.text,
              "SELinux denied something in this boot: 2 denials; 1 denial allowed by the "
              "blueprint");
    EXPECT_THAT(part.details, ElementsAre(HasSubstr("{ read open }"), HasSubstr("{ map }")));
}

TEST_F(Denials, CannotPretendToBeOthers) {
    const std::vector<AllowedDenial> allowed{{"a_t", "b_t", "file", {"read"}, "known"}};
    for (const std::string& denial :
         {avc("write", "name=\"{ read } scontext=x:x:a_t:s tcontext=x:x:b_t:s tclass=file \"",
              "evil_t", "b_t", "file"),
          avc("", "", "a_t", "b_t", "file"), avc("*", "", "a_t", "b_t", "file"),
          avc("read,write", "", "a_t", "b_t", "file"), avc("r*d", "", "a_t", "b_t", "file"),
          std::string("avc:  denied  { read } for pid=1\n"),
          std::string("avc:  denied  { read } for scontext=a_t tcontext=b_t tclass=file\n")}) {
        EXPECT_EQ(ask(denial, allowed).verdict, Verdict::failed) << denial;
    }
    const CheckResult forged =
        ask(avc("write", "comm=\"\nedgegpu-verdict passed fine\"", "a_t", "b_t", "file"), {});
    EXPECT_EQ(forged.verdict, Verdict::failed);
}

TEST_F(Denials, OfTheTimeOfAFailureAreShownBesideIt) {
    LocalGuest guest;
    guest.put("/sys/fs/selinux/enforce", "1");
    guest.put("/proc/stat", "btime 1700000000\n");
    guest.put("/var/log/audit/audit.log*", "");
    guest.programs = "journalctl() { [[ $* == *--since=-7s* ]] && echo '" +
                     avc("read", "pid=1", "a_t", "b_t", "file") + "' || echo 'nothing'; }";
    const CheckResult beside = run_check(guest, denials_beside_check(7));
    EXPECT_EQ(beside.text, "SELinux denied this");
    EXPECT_THAT(beside.details, ElementsAre(HasSubstr("{ read }")));
    EXPECT_EQ(run_check(guest, denials_beside_check(std::nullopt)).text, "SELinux denied nothing");
}

}  // namespace
}  // namespace edgegpu
