package changes

import (
	"errors"
	"fmt"
	"slices"

	"orbweaver/engine/filter"
	"orbweaver/internal/options"
)

// fileRows are the settings that name a file of rules. Given the name that they have, the file is read again. Another
// name is refused: a request that comes over the network could have any file read then.
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
	}
}

// reread reads the file of a setting again, and makes a list of its rules.
func reread[L any](
	compile func(filter.Rules) (*L, error), change func(d *draft, list *L) error,
) func(*draft, options.Setting) error {
	return func(d *draft, v options.Setting) error {
		file := v.Text()
		switch {
		case file != d.inForce.now.get(v.Name).Text():
			return errors.New("a running crawl reads only the file that it was given at the start again: " +
				"change that file, and use 'ctl set --reload'")
		case file == "":
			return errors.New("no file was given at the start")
		}
		rules, err := d.inForce.read(file)
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
			s.Purge()
		}
	})
	return nil
}
