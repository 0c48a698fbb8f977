package main

import "regexp"

type kind int

const (
	documentation kind = iota
	application
)

// site is a host with an address of its own, and what is known about it.
type site struct {
	name    string // its host is NAME.test
	addr    string
	kind    kind
	server  string // nginx or apache
	dir     string // pattern of the directory that is served, below the root of the packages
	index   string // file that stands for a directory, if not index.html
	list    bool   // directories are listed, whatever index they have
	made    string // what made the pages, for the table
	app     *app
	trap    *regexp.Regexp // URLs of a documentation site that are no pages for readers
	cut     bool           // wget was stopped before its end
	result  result
	bounded result // of an application, with a small floor and to the end
}

// result is what the comparison found.
type result struct {
	readers  int // pages for readers, by the truth
	stored   int // those that the crawl stored
	skipped  int // those that it left out, by its list; what is neither was still queued at its end
	requests int // of that crawl, robots.txt and redirects included
	last     int // the number of the request that fetched the last page for readers, of an application
	waste    int // requests for pages that are not for readers
	state    string
	kinds    map[string]int // waste by kind
}

func (s *site) host() string { return s.name + ".test" }
func (s *site) seed() string { return "http://" + s.host() + "/" }

func sites() []*site {
	return []*site{
		{name: "rust", server: "nginx", dir: "usr/share/doc/rust-doc/html", made: "rustdoc, mdBook"},
		{name: "python", server: "nginx", dir: "usr/share/doc/python3-doc/html", made: "Sphinx"},
		{name: "git", server: "nginx", dir: "usr/share/doc/git-doc", made: "AsciiDoc"},
		{name: "sqlite", server: "nginx", dir: "usr/share/doc/sqlite3", made: "by hand"},
		{name: "nodejs", server: "nginx", dir: "usr/share/doc/nodejs/api", made: "own generator"},
		{name: "cmake", server: "nginx", dir: "usr/share/doc/cmake-data/html", made: "Sphinx"},
		{
			name:   "files",
			server: "nginx",
			dir:    "usr/share/doc/libstdc++-*-doc",
			list:   true,
			made:   "Doxygen, as listings of nginx",
		},
		{name: "stl", server: "apache", dir: "usr/share/doc/libstdc++-*-doc/libstdc++", made: "Doxygen, DocBook"},
		{name: "postgres", server: "apache", dir: "usr/share/doc/postgresql-doc-*[0-9]/html", made: "DocBook"},
		{
			name:   "debian",
			server: "apache",
			dir:    "usr/share/doc/debian-reference-common/docs",
			made:   "DocBook",
			index:  "index.en.html",
		},
		{
			name:   "glib",
			server: "apache",
			dir:    "usr/share/doc/libglib2.0-doc",
			list:   true,
			made:   "GTK-Doc, and listings",
			trap:   sortOrder,
		},
		{
			name:   "httpd",
			server: "apache",
			dir:    "usr/share/doc/apache2-doc/manual",
			made:   "XML, a file for each language",
		},
		{
			name:   "contrib",
			server: "apache",
			dir:    "usr/share/doc/git",
			list:   true,
			made:   "files as listings of Apache",
			trap:   sortOrder,
		},
		{
			name:   "mediawiki",
			server: "apache",
			dir:    "var/lib/mediawiki",
			kind:   application,
			made:   "MediaWiki, SQLite",
			app:    mediawiki(),
		},
		{
			name:   "dokuwiki",
			server: "apache",
			dir:    "usr/share/dokuwiki",
			kind:   application,
			made:   "DokuWiki, files",
			app:    dokuwiki(),
		},
		{name: "cgit", server: "apache", dir: "usr/lib/cgit", kind: application, made: "cgit, Git", app: cgit()},
		{
			name:   "wordpress",
			server: "apache",
			dir:    "usr/share/wordpress",
			kind:   application,
			made:   "WordPress, MariaDB",
			app:    wordpress(),
		},
	}
}

// sortOrder is what Apache's listings link to beside each file: the same listing in another order.
var sortOrder = regexp.MustCompile(`\?C=[NMSD];O=[AD]$`)
