package ctl

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"

	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/engine"
	"orbweaver/engine/operate/changes"
	"orbweaver/engine/operate/control"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/settings"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
)

// hasStopped reports whether an error of the client means that the crawl in the directory has stopped, so that its
// files are the answer.
func (c *Command) hasStopped(err error) bool {
	if !c.IsStopped(err) {
		return false
	}
	_, err = vfs.Disk().Size(c.Dir + "/" + layout.ManifestFile)
	return !errors.Is(err, fs.ErrNotExist)
}

// stoppedRules returns the host rules of a stopped crawl, on a disk.
func (c *Command) stoppedRules(disk vfs.FS) (*settings.HostRules, error) {
	var fixed *filter.HostRules
	t, err := command.ReadTOML(filepath.Join(c.Dir, layout.SettingsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var files []string
	if err == nil {
		files = t.Texts("host-rules")
	}
	if len(files) > 0 {
		rules, err := crawl.ReadRules(files)
		if err == nil {
			fixed, err = filter.CompileHostRules(rules)
		}
		if err != nil {
			return nil, fmt.Errorf("--host-rules of %s: %w", layout.SettingsFile, err)
		}
	}
	return settings.OpenHostRules(disk, c.Dir+"/"+layout.FrontierDir, fixed, slog.New(slog.DiscardHandler))
}

// listStoppedRules lists the host rules of a stopped crawl.
func (c *Command) listStoppedRules() (list control.HostRules, err error) {
	rules, err := c.stoppedRules(vfs.Disk())
	if err == nil {
		list = control.HostRulesOf(rules.List())
	}
	return list, err
}

// addStoppedRules gives host rules to a stopped crawl. They are in force from its next run on.
func (c *Command) addStoppedRules(texts []string) (message string, err error) {
	disk := engine.Disk(c.Dir)
	lock, err := layout.Lock(disk, c.Dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	rules, err := c.stoppedRules(disk)
	if err != nil {
		return "", err
	}
	taken, err := rules.Add(texts)
	if taken == 0 {
		return "", err
	}
	return fmt.Sprintf("%d of %s kept: the crawl does not run; its next run begins with %s", taken,
		plural.Count(len(texts), "host rule"), plural.Verb(taken, "it", "them")), err
}

// give gives host rules to the crawl: over its socket, or in its directory.
func (c *Command) give(inv *command.Invocation, action string, texts, rules []string) error {
	err := c.do(inv, action, texts)
	if !c.hasStopped(err) {
		return err
	}
	message, err := c.addStoppedRules(rules)
	switch {
	case message == "":
		return err
	case c.JSON:
		return errors.Join(command.PrintJSON(inv.Stdout, control.Reply{Message: message}), err)
	}
	fmt.Fprintln(inv.Stderr, message)
	return err
}

// stoppedChanges lists the last changes of a stopped crawl.
func (c *Command) stoppedChanges() (changes.List, error) {
	log, err := changes.OpenLog(vfs.Disk(), c.Dir)
	if err != nil {
		return changes.List{}, err
	}
	return changes.List{Settings: []changes.Setting{}, Changes: log.Last(changes.Listed)}, nil
}

// atResume says where settings of a stopped crawl are changed.
func (c *Command) atResume(err error) error {
	if !c.hasStopped(err) {
		return err
	}
	return fmt.Errorf("the crawl in %s does not run: its settings are those of %s; give others as flags when it goes on, "+
		"such as: orbweaver crawl --dir %[1]s --host-delay 10s", c.Dir, filepath.Join(c.Dir, layout.SettingsFile))
}
