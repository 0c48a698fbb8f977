package changes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/wall"
	"orbweaver/internal/options"
)

// fileRows are the settings that name files of rules. Given the names that they have, the files are read again. Other
// names are refused: a request that comes over the network could have any file read then.
func fileRows() []row {
	return []row{
		{name: "exclude-hosts", set: reread(filter.CompileHosts, func(d *draft, list *filter.HostSet) error {
			d.changeLists(func(l *filter.Lists) { l.ExcludeHosts = list })
			return nil
		}), isFile: true, decidesAdmission: true},
		{name: "include-hosts", set: reread(filter.CompileHosts, func(d *draft, list *filter.HostSet) error {
			d.changeLists(func(l *filter.Lists) { l.IncludeHosts = list })
			return nil
		}), isFile: true, decidesAdmission: true},
		{name: "surts", set: reread(filter.CompileSURTs, func(d *draft, list *filter.SURTs) error {
			d.changeLists(func(l *filter.Lists) { l.SURTs = list })
			return nil
		}), isFile: true, decidesAdmission: true},
		{name: "host-rules", set: reread(filter.CompileHostRules, setHostRules), isFile: true},
		{name: "walls", set: setWalls, isFile: true, noFile: wall.Off},
	}
}

// checkFiles refuses another value than the one that a setting of files has.
func checkFiles(v options.Setting, value string) error {
	if value == strings.TrimSpace(v.Text()) {
		return nil
	}
	return errors.New("a running crawl reads only the files that it was given at the start again: " +
		"change them, and use 'ctl set --reload'")
}

// reread reads the files of a setting again, and makes one list of their rules.
func reread[L any](
	compile func(filter.Rules) (*L, error), change func(d *draft, list *L) error,
) func(*draft, options.Setting) error {
	return func(d *draft, v options.Setting) error {
		if v.Value.Len() == 0 {
			return errors.New("no file was given at the start")
		}
		rules, err := d.inForce.read(v.Strings())
		if err != nil {
			return err
		}
		list, err := compile(rules)
		if err != nil {
			return err
		}
		d.reads[v.Name] = len(rules.Texts)
		return change(d, list)
	}
}

// setWalls changes the rules by which walls are told from pages.
func setWalls(d *draft, v options.Setting) error {
	if strings.TrimSpace(v.Text()) == wall.Off {
		return errors.New("it is off since the start: stop the crawl, and give another value when you resume it")
	}
	return reread(wall.Compile, func(d *draft, t *wall.Table) error {
		d.later = append(d.later, func(s *Settings) { s.Live.Walls.Store(t) })
		return nil
	})(d, v)
}

// setHostRules changes the rules of single hosts. The archive states which of them ignore robots.txt, and why.
func setHostRules(d *draft, rules *filter.HostRules) error {
	stated := d.inForce.Live.Hosts.RobotsIgnored()
	for _, line := range rules.RobotsIgnored() {
		if !slices.Contains(stated, line) {
			return fmt.Errorf("%s: a new rule that ignores robots.txt cannot come while the crawl runs, "+
				"since the open WARC files state these rules: resume the crawl with it", line)
		}
	}
	d.later = append(d.later, func(s *Settings) {
		if s.Live.Hosts.Configure(rules); s.Live.Hosts.ExcludesAny() {
			s.Distributor.Purge()
		}
	})
	return nil
}
