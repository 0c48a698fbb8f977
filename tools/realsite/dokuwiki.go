package main

import (
	"context"
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func dokuwiki() *app {
	return &app{
		fill: fillDokuwiki, pages: dokuwikiPages, fixed: 5000, times: 30,
		conf: `
  <Directory /var/lib/dokuwiki/lib>
    Options FollowSymLinks
  </Directory>`,
		kinds: []urlKind{
			{"", regexp.MustCompile(`/lib/|/feed\.php`)},
			{"differences", regexp.MustCompile(`[?&]do=diff`)},
			{"old revisions", regexp.MustCompile(`[?&]rev=`)},
			{"lists of revisions", regexp.MustCompile(`[?&]do=revisions`)},
			{"forms to edit", regexp.MustCompile(`[?&]do=edit`)},
			{"sitemap", regexp.MustCompile(`[?&]do=index|[?&]idx=`)},
			{"media manager", regexp.MustCompile(`[?&]do=media|[?&]ns=|[?&]tab_`)},
			{"recent changes", regexp.MustCompile(`[?&]do=recent|[?&]first`)},
			{"other actions", regexp.MustCompile(`[?&]do=|[?&]vecdo=`)},
			{"pages that do not exist", regexp.MustCompile(`[?&]id=`)},
		},
	}
}

// savedPage is a page to be saved by DokuWiki.
type savedPage struct {
	ID    string   `json:"id"`
	Texts []string `json:"texts"` // of its revisions
}

// fillDokuwiki lets DokuWiki save Git's documentation and the notes of its releases, with a history of each page.
func fillDokuwiki(ctx context.Context, r *run, _ *servers, _ *site) error {
	config := "<?php\n$conf['title'] = 'Git';\n$conf['useacl'] = 0;\n$conf['savedir'] = '" + r.inside(
		"dokuwiki",
	) + "';\n"
	settings := filepath.Join(r.root, "etc/dokuwiki/local.php")
	err := os.WriteFile(settings, []byte(config), 0o644) //nolint:gosec // not secret
	if err != nil {
		return err
	}
	for _, dir := range strings.Fields("attic cache index locks log media media_attic media_meta meta pages tmp") {
		if err := os.MkdirAll(r.path("dokuwiki", dir), 0o755); err != nil { //nolint:gosec // the web server's user has it
			return err
		}
	}
	manual, err := r.manual(120)
	if err != nil {
		return err
	}
	notes, err := r.releases()
	if err != nil {
		return err
	}
	name := strings.NewReplacer(" ", "_")
	var pages []savedPage
	lists := map[string]string{}
	add := func(space string, articles []*article) {
		for _, a := range articles {
			id := space + ":" + strings.ToLower(name.Replace(a.Title))
			p := savedPage{ID: id}
			for i := range revisions {
				p.Texts = append(p.Texts, a.revision(i, func(to string) string { return "[[manual:" + to + "]]" },
					func(h string) string { return "===== " + h + " =====" }))
			}
			pages = append(pages, p)
			lists[space] += "  * [[" + id + "]]\n"
		}
	}
	add("manual", manual)
	add("releases", notes[len(notes)-min(len(notes), 80):])
	entry := "====== Git ======\n\n"
	for space, list := range lists {
		pages = append(pages, savedPage{space + ":start", []string{list}})
		entry += "  * [[" + space + ":start]]\n"
	}
	pages = append(pages, savedPage{"start", []string{entry}})
	text, err := json.Marshal(pages)
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.path("dokuwiki.json"), text, 0o644); err != nil { //nolint:gosec // not secret
		return err
	}
	if _, err := r.script(ctx, "dokuwiki_fill.php", r.inside("dokuwiki.json")); err != nil {
		return err
	}
	return r.give("dokuwiki")
}

// dokuwikiPages are the files of DokuWiki's pages.
func dokuwikiPages(_ context.Context, r *run, s *site) (of []string, err error) {
	base := r.path("dokuwiki", "pages")
	err = filepath.WalkDir(base, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".txt" {
			return err
		}
		id := strings.TrimSuffix(strings.TrimPrefix(path, base+"/"), ".txt")
		of = append(of, s.seed()+"doku.php?id="+strings.ReplaceAll(id, "/", ":"))
		if _, err := url.Parse(of[len(of)-1]); err != nil {
			return err
		}
		return nil
	})
	return of, err
}
