package traps

import "orbweaver/engine/traps/skipped"

// Options bound what endless or repetitive parts of sites cost.
type Options struct {
	MaxPathRepeats int         `help:"Skip URLs whose path repeats the same one to four folders more than N times in a row; 0 for no limit. --novelty already bounds endless paths; set it if even their first pages are unwanted. 'orbweaver skipped' lists what is skipped." default:"0" placeholder:"N"`
	Novelty        NoveltyMode `type:"word" help:"on: URLs of a part of a site whose pages repeat known text wait until the site has nothing else. They are skipped only above --trap-floor. off: no URL waits or is skipped, and a crawl of an endless site does not end." oneof:"on,off" default:"on" placeholder:"MODE"`
	TrapFloor      int         `help:"Delayed URLs of one part of a site that are fetched before any is skipped. Then a URL is skipped only if the part repeats itself and keeps growing; ten times as many if its payloads differ. Raise it if 'orbweaver skipped' lists pages that you want, and start the crawl again: they are queued again. Lower it if traps cost too much." default:"10000" least:"1" most:"1073741824" placeholder:"N"`
	NoveltyMemory  int64       `help:"Memory of known text, for --novelty. Raise it if novelty_evicted in report.json grows." default:"32MiB" type:"size" least:"1" placeholder:"SIZE" group:"memory"`
}

// NoveltyMode says whether repetitive parts of sites are delayed.
type NoveltyMode uint8

// The modes, in the order of the flag's words.
const (
	NoveltyOn NoveltyMode = iota
	NoveltyOff
)

// SkipSettings are the settings on which the list of skipped URLs depends.
func (o *Options) SkipSettings() skipped.Settings {
	s := skipped.Settings{Floor: o.TrapFloor, Repeats: o.MaxPathRepeats}
	if o.Novelty == NoveltyOff {
		s.Floor = 0
	}
	return s
}
