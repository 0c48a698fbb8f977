package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func mediawiki() *app {
	return &app{
		fill: fillMediawiki, pages: mediawikiPages, fixed: 5000, times: 30,
		conf: `
  AcceptPathInfo On
  <Directory /usr/share/mediawiki>
    Options FollowSymLinks
    AllowOverride All
  </Directory>`,
		kinds: []urlKind{
			{"", regexp.MustCompile(`/load\.php|/resources/|/skins/|/images/|/opensearch_desc\.php|/rest\.php`)},
			{"old revisions and differences", regexp.MustCompile(`[?&](oldid|diff|curid)=`)},
			{"histories", regexp.MustCompile(`[?&]action=history`)},
			{"forms to edit", regexp.MustCompile(`[?&](action=(edit|submit)|veaction=)|redlink=1`)},
			{"other actions", regexp.MustCompile(`[?&]action=|[?&]printable=|/api\.php`)},
			{
				"recent changes and related changes",
				regexp.MustCompile(`Special:RecentChanges|Special:Recentchanges|title=Special%3ARecentChanges`),
			},
			{"links to a page", regexp.MustCompile(`Special:WhatLinksHere|title=Special:WhatLinksHere`)},
			{"logs and contributions", regexp.MustCompile(`Special:(Log|Contributions|Contribs)`)},
			{"log in", regexp.MustCompile(`Special:(UserLogin|CreateAccount)`)},
			{"other special pages", regexp.MustCompile(`Special(:|%3A)`)},
		},
	}
}

// mediawikiArticles is the number of articles. MediaWiki takes tens of milliseconds for a page, and has some fifteen
// views of each article.
const mediawikiArticles = 120

// mediawikiSettings is added to what MediaWiki's installer writes.
const mediawikiSettings = `
$wgMainCacheType = CACHE_ACCEL;
$wgParserCacheType = CACHE_DB;
$wgJobRunRate = 0;
`

// fillMediawiki installs MediaWiki with an SQLite database and imports Git's documentation with a history of each page.
func fillMediawiki(ctx context.Context, r *run, _ *servers, s *site) error {
	settings := filepath.Join(r.root, "etc/mediawiki/LocalSettings.php")
	if err := os.Remove(settings); err != nil && !os.IsNotExist(err) {
		return err
	}
	const maintenance = "/usr/share/mediawiki/maintenance/"
	php := func(args ...string) error {
		_, err := r.do(ctx, "/usr/bin/php", args...)
		return err
	}
	if err := os.Mkdir(r.path("mediawiki"), 0o755); err != nil { //nolint:gosec // the web server's user has it
		return err
	}
	err := php(maintenance+"install.php", "--dbtype", "sqlite", "--dbname", "wiki", "--dbpath", r.inside("mediawiki"),
		"--server", strings.TrimSuffix(s.seed(), "/"), "--scriptpath", "", "--pass", "a long password 1",
		"--confpath", r.inside("mediawiki"), "Git's documentation", "Admin")
	if err != nil {
		return err
	}
	text, err := os.ReadFile(r.path("mediawiki", "LocalSettings.php"))
	if err != nil {
		return err
	}
	err = os.WriteFile(settings, append(text, mediawikiSettings...), 0o644) //nolint:gosec // the web server reads it
	if err != nil {
		return err
	}
	articles, err := r.manual(mediawikiArticles)
	if err != nil {
		return err
	}
	err = os.WriteFile(r.path("mediawiki.xml"), mediawikiDump(articles), 0o644) //nolint:gosec // as above
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"importDump.php", "--no-updates", r.inside("mediawiki.xml")}, {"rebuildrecentchanges.php"}, {"refreshLinks.php"},
		{"runJobs.php"}, {"initSiteStats.php", "--update"},
	} {
		if err := php(append([]string{maintenance + args[0]}, args[1:]...)...); err != nil {
			return err
		}
	}
	return r.give("mediawiki")
}

// give makes what is below a name of this run the web server's.
func (r *packages) give(name string) error {
	_, err := r.do(context.Background(), "/usr/bin/chown", "-R", "www-data:www-data", r.inside(name))
	return err
}

// mediawikiDump writes articles as an export of MediaWiki: an entry page that links to a list for each group, the
// lists, and the pages.
func mediawikiDump(articles []*article) []byte {
	var out bytes.Buffer
	out.WriteString(`<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">` + "\n")
	page := func(title string, space int, texts ...string) {
		fmt.Fprintf(&out, "<page><title>%s</title><ns>%d</ns>", title, space)
		for i, text := range texts {
			when := time.Now().UTC().Add(time.Duration(i-len(texts)) * 24 * time.Hour)
			if title == "Main Page" { // newer than the installer's
				when = time.Now().UTC().Add(time.Minute)
			}
			fmt.Fprintf(
				&out,
				"<revision><timestamp>%s</timestamp><contributor><username>%s</username></contributor><comment>part %d</comment>"+
					"<model>wikitext</model><format>text/x-wiki</format><text xml:space=\"preserve\">",
				when.Format(time.RFC3339),
				[]string{"Alice", "Bob", "Carol"}[i%3],
				i+1,
			)
			_ = xml.EscapeText(&out, []byte(text))
			out.WriteString("</text></revision>")
		}
		out.WriteString("</page>\n")
	}
	lists := map[string]string{}
	for _, a := range articles {
		var texts []string
		for i := range revisions {
			texts = append(
				texts,
				a.revision(i, func(to string) string { return "[[" + to + "]]" },
					func(h string) string { return "== " + h + " ==" })+
					"\n\n[[Category:"+a.Group+"]]\n",
			)
		}
		page(a.Title, 0, texts...)
		lists[a.Group] += "* [[" + a.Title + "]]\n"
	}
	entry := "The documentation of Git.\n"
	for group, list := range lists {
		page("List of "+group, 0, list)
		page("Category:"+group, 14, "Commands that are "+group+".")
		entry += "* [[List of " + group + "]]\n* [[:Category:" + group + "]]\n"
	}
	page("Main Page", 0, entry)
	out.WriteString("</mediawiki>\n")
	return out.Bytes()
}

// mediawikiPages asks MediaWiki for the addresses of all pages in its database.
func mediawikiPages(ctx context.Context, r *run, _ *site) ([]string, error) {
	return r.script(ctx, "mediawiki_pages.php")
}

// script runs a PHP script of ours, with arguments, and returns the lines that it prints.
func (r *packages) script(ctx context.Context, name string, args ...string) ([]string, error) {
	text, err := files.ReadFile("apps/" + name)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(r.path(name), text, 0o644); err != nil { //nolint:gosec // not secret
		return nil, err
	}
	out, err := r.do(ctx, "/usr/bin/php", append([]string{r.inside(name)}, args...)...)
	return strings.Fields(string(out)), err
}
