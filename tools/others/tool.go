//go:build linux

package main

import (
	"path/filepath"
	"strconv"
	"time"
)

// setting is one way in which all tools are asked to crawl.
type setting struct {
	Name   string        `json:"name"`
	Odd    bool          `json:"odd"`      // a web whose links are written in every way that the standards allow
	Delay  time.Duration `json:"delay_ns"` // between two requests to a host; 0 is none
	AtOnce int           `json:"at_once"`  // requests at once, of a tool that lets one say so
}

// place is where one crawl finds what it needs and leaves what it makes.
type place struct {
	bin   string // orbweaver
	build string // what install.sh has built
	dir   string // of this crawl, empty
	seeds string // file
	proxy string // URL
}

// tool is a crawler that is compared. What the words say must be what the command does.
type tool struct {
	name    string
	warc    string // what archive it writes
	waits   string // what its delay is between; "" if it has none
	version []string
	command func(p place, s setting) []string
	once    bool // takes part in the first round only
}

// tools lists what is compared. Each command follows every link, obeys robots.txt, and keeps no files but its archive.
func tools(bin, build string) []tool {
	ours := []string{bin, "version"}
	colly := filepath.Join(build, "colly")
	crawlee := filepath.Join(build, "crawlee", "crawl.mjs")
	return []tool{
		{
			name:    "orbweaver",
			warc:    "gzip 1",
			waits:   "requests to a host",
			version: ours,
			command: orbweaver("--warc-level", "1"),
		},
		{
			name:    "orbweaver -9",
			warc:    "gzip 9",
			waits:   "requests to a host",
			version: ours,
			command: orbweaver("--warc-level", "9"),
			once:    true,
		},
		{
			name:    "orbweaver -0",
			warc:    "none",
			waits:   "requests to a host",
			version: ours,
			command: orbweaver("--store", "none"),
			once:    true,
		},
		{
			name:    "wget",
			warc:    "gzip 9",
			waits:   "any two requests",
			version: []string{"wget", "--version"},
			command: wget,
		},
		{
			name:    "wget2",
			warc:    "none",
			waits:   "requests of a thread",
			version: []string{"wget2", "--version"},
			command: wget2,
		},
		{
			name:    "colly",
			warc:    "none",
			waits:   "requests to a host",
			version: []string{colly, "-version"},
			command: collyDriver,
		},
		{
			name:    "crawlee",
			warc:    "none",
			waits:   "requests to a domain",
			version: []string{"node", crawlee, "--version"},
			command: crawleeDriver,
		},
		{
			name:    "scrapy",
			warc:    "none",
			waits:   "requests to a host",
			version: []string{"scrapy", "version"},
			command: scrapy,
		},
	}
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'g', -1, 64) }

// orbweaver takes one at once from a host, and from an address, in any case.
func orbweaver(archive ...string) func(place, setting) []string {
	return func(p place, s setting) []string {
		return append(
			[]string{
				p.bin,
				"crawl",
				"--dir",
				filepath.Join(p.dir, "crawl"),
				"--scope",
				"all",
				"--proxy",
				p.proxy,
				"--resolver",
				"hashed:100",
				"--seeds",
				p.seeds,
				"--host-delay",
				s.Delay.String(),
				"--ip-delay",
				"0s",
				"--fetchers",
				strconv.Itoa(s.AtOnce),
				"--progress",
				"none",
			},
			archive...)
	}
}

// wget takes one after the other, and waits between any two.
func wget(p place, s setting) []string {
	return []string{
		"wget",
		"--no-config",
		"--no-hsts",
		"--no-verbose",
		"--output-file=" + filepath.Join(p.dir, "wget.log"),
		"--directory-prefix=" + filepath.Join(p.dir, "files"),
		"--delete-after",
		"--recursive",
		"--level=inf",
		"--page-requisites",
		"--span-hosts",
		"--wait=" + seconds(s.Delay),
		"--warc-file=" + filepath.Join(p.dir, "archive"),
		"--no-warc-keep-log",
		"--warc-tempdir=" + p.dir,
		"--input-file=" + p.seeds,
	}
}

func wget2(p place, s setting) []string {
	return []string{"wget2", "--no-config", "--no-hsts", "--quiet", "--progress=none",
		"--directory-prefix=" + filepath.Join(p.dir,
			"files"), "--delete-after", "--recursive", "--level=0", "--page-requisites",
		"--span-hosts", "--wait=" + seconds(s.Delay), "--max-threads=" + strconv.Itoa(s.AtOnce), "--http-proxy=" + p.proxy,
		"--input-file=" + p.seeds}
}

func collyDriver(p place, s setting) []string {
	return []string{
		filepath.Join(p.build, "colly"),
		"-proxy",
		p.proxy,
		"-seeds",
		p.seeds,
		"-at-once",
		strconv.Itoa(s.AtOnce),
		"-delay",
		s.Delay.String(),
	}
}

func crawleeDriver(p place, s setting) []string {
	return []string{
		"node",
		filepath.Join(p.build, "crawlee", "crawl.mjs"),
		p.proxy,
		p.seeds,
		strconv.Itoa(s.AtOnce),
		seconds(s.Delay),
	}
}

func scrapy(p place, s setting) []string {
	perHost := "8" // its default
	if s.Delay > 0 {
		perHost = "1" // its delay alone is between beginnings
	}
	return []string{
		"scrapy",
		"runspider",
		filepath.Join("tools", "others", "scrapy", "spider.py"),
		"-a",
		"seeds=" + p.seeds,
		"-s",
		"CONCURRENT_REQUESTS=" + strconv.Itoa(s.AtOnce),
		"-s",
		"CONCURRENT_REQUESTS_PER_DOMAIN=" + perHost,
		"-s",
		"DOWNLOAD_DELAY=" + seconds(s.Delay),
	}
}
