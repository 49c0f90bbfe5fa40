#include "customise/system/locale.hpp"

#include "unit/customise_fixture.hpp"

namespace edgegpu::test {

namespace {

class LocaleTest : public TreeTest {
protected:
    LocaleTest() {
        timezone.location = {"b.toml", 2, 3};
        locale.location = {"b.toml", 5, 1};
    }
    std::string fault() {
        return error_of([&] {
            check_timezone(timezone, tree);
            check_locale(locale, tree);
        });
    }
    TimezoneRequest timezone;
    LocaleRequest locale;
};

TEST_F(LocaleTest, TimeZones) {
    timezone.name = "Europe/Berlin";
    EXPECT_EQ(fault(),
              "b.toml:2:3: the image has no time zone 'Europe/Berlin'|"
              "add the package tzdata");
    file("/usr/share/zoneinfo/Europe/Berlin", "TZif");
    link("/usr/share/zoneinfo/Europe/Bonn", "Berlin");
    EXPECT_EQ(fault(), "");
    timezone.name = "Europe/Bonn";
    EXPECT_EQ(fault(), "");
    timezone.name = "Europe/Berlim";
    EXPECT_EQ(fault(),
              "b.toml:2:3: the image has no time zone 'Europe/Berlim'|"
              "did you mean 'Europe/Berlin'?");
    timezone.name = "Europe";
    EXPECT_NE(fault(), "");
    file("/usr/share/zoneinfo/zone.tab", "DE\t+5230+01322\tEurope/Berlin\n");
    timezone.name = "zone.tab";
    EXPECT_NE(fault().find("the image has no time zone 'zone.tab'"), std::string::npos);
}

TEST_F(LocaleTest, Locales) {
    locale.languages = {"C.UTF-8", "C", "POSIX", "C.utf8"};
    EXPECT_EQ(fault(), "");
    locale.languages = {"de_DE.UTF-8"};
    EXPECT_EQ(fault(),
              "b.toml:5:1: the image has no locale 'de_DE.UTF-8'|"
              "add the package glibc-langpack-de or glibc-all-langpacks");
    directory("/usr/lib/locale");
    directory("/usr/lib/locale/de_DE.utf8");
    EXPECT_EQ(fault(), "");
    locale.languages = {"de_DE.UTF-8", "de_DR.UTF-8"};
    EXPECT_EQ(fault(),
              "b.toml:5:1: the image has no locale 'de_DR.UTF-8'|"
              "did you mean 'de_DE.utf8'? Or add the package glibc-langpack-de or "
              "glibc-all-langpacks");
    file("/usr/lib/locale/locale-archive.real",
         std::string(5U << 20U, 'x') + std::string("\0de_DR.utf8\0", 12));
    EXPECT_EQ(fault(), "");
    locale.languages = {"french"};
    EXPECT_NE(fault(), "");
    file("/usr/share/locale/locale.alias", "# alias\nfrench  fr_FR.ISO-8859-1\n");
    EXPECT_EQ(fault(), "");
}

TEST_F(LocaleTest, ALocaleAcrossPiecesOfTheArchive) {
    const std::size_t piece = 4U << 20U;
    directory("/usr/lib/locale");
    file("/usr/lib/locale/locale-archive",
         std::string(piece - 4, 'x') + std::string("fr_FR.utf8\0", 11));
    locale.languages = {"fr_FR.UTF-8"};
    EXPECT_EQ(fault(), "");
}

TEST_F(LocaleTest, Keyboards) {
    locale.keyboard = "us";
    EXPECT_EQ(fault(), "");
    locale.keyboard = "dvorak";
    EXPECT_EQ(fault(),
              "b.toml:5:1: the image has no keyboard layout 'dvorak'|"
              "add the packages kbd and kbd-misc");
    file("/usr/lib/kbd/keymaps/legacy/i386/dvorak/dvorak.map.gz", "");
    file("/usr/lib/kbd/keymaps/xkb/cz.map", "");
    EXPECT_EQ(fault(), "");
    locale.keyboard = "cz";
    EXPECT_EQ(fault(), "");
    locale.keyboard = "dvorka";
    EXPECT_EQ(fault(),
              "b.toml:5:1: the image has no keyboard layout 'dvorka'|"
              "did you mean 'dvorak'?");
}

}  // namespace

}  // namespace edgegpu::test
