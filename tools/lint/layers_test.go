package lint

import (
	"fmt"
	"strings"
)

// layers are the packages of the module from the bottom to the top. An entry that ends in a slash is everything below
// it that has no entry of its own. Packages that do not exist yet have their place already.
func layers() []string {
	return []string{
		"internal/ engine/bodyfile engine/bandwidth engine/underway",
		"workbench workbench/ sieve sieve/ virtualize virtualize/ dnsres dnsres/ warc warc/",
		"engine/fetch engine/fetch/ engine/parse engine/parse/ engine/pdflinks engine/sitemap engine/robots " +
			"engine/filter engine/politeness engine/novelty engine/cookie engine/dedup engine/catalogue " +
			"engine/cluster/membership engine/cluster/membership/ " +
			"engine/cluster/ring engine/cluster/ownership engine/cluster/consensus engine/cluster/identity " +
			"engine/cluster/transport engine/cluster/transport/ " +
			"engine/cluster/outbox engine/cluster/addresslease engine/cluster/marks",
		"engine/layout engine/clock engine/lifecycle engine/queued engine/attempt engine/site engine/visit " +
			"engine/workers engine/login engine/readyqueue engine/wall",
		"engine/limits engine/outage engine/crawllog engine/skipped engine/counters engine/settings engine/capture " +
			"engine/robots/reading " +
			"engine/traps engine/upload/receipts",
		"engine/journal engine/cluster",
		"engine/manifest engine/cluster/message",
		"engine/addrgroup",
		"engine/links engine/admission engine/dnsrecords engine/recrawl engine/otherarchives engine/neardup " +
			"engine/cluster/quota engine/cluster/recovery engine/cluster/leasing " +
			"engine/cluster/termination engine/cluster/quorum engine/cluster/delivery " +
			"engine/cluster/robotsrelay engine/cluster/payloads",
		"engine/sites engine/ending engine/schedule",
		"engine/fetchers engine/parsers",
		"engine/cluster/",
		"engine/archive engine/checkpoint engine/restore engine/rebuild engine/inspect engine/upload",
		"engine/upload/",
		"engine/report engine/explain engine/storage",
		"engine/hosts",
		"engine/logreport engine/progress",
		"engine/evidence engine/doctor engine/changes engine/feed",
		"engine/operator engine/history",
		"engine",
		"engine/control/dashboard",
		"engine/control engine/reportpage engine/fsck engine/audit engine/gaps engine/inbox",
		"derive",
		"derive/",
		"bench/",
		"cmd/ tools/",
	}
}

// layerOf is the number of a package's layer, by its longest entry; -1 if it has none.
func layerOf(dir string) (layer int) {
	layer = -1
	longest := 0
	for number, row := range layers() {
		for entry := range strings.FieldsSeq(row) {
			if entry != dir && !(strings.HasSuffix(entry, "/") && strings.HasPrefix(dir, entry)) {
				continue
			}
			if length := len(entry); length > longest || entry == dir {
				layer, longest = number, length
				if entry == dir {
					return layer
				}
			}
		}
	}
	return layer
}

// findUpwardImports finds imports of a package in a higher layer. Tests may look up.
func findUpwardImports(h *tree) (findings []finding) {
	for _, dir := range sorted(h.packages()) {
		if layerOf(dir) < 0 {
			findings = append(findings, finding{dir, dir, "has no layer: give it one in layers", 1})
		}
	}
	for _, f := range h.files {
		if f.test {
			continue
		}
		for _, spec := range f.ast.Imports {
			target, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module+"/")
			if ours && layerOf(target) > layerOf(f.dir) {
				findings = append(
					findings,
					finding{f.dir, h.at(spec), fmt.Sprintf("%s imports %s from a higher layer", f.dir, target), 1},
				)
			}
		}
	}
	return findings
}
