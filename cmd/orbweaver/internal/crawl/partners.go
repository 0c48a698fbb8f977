package crawl

import (
	"errors"
	"slices"

	"orbweaver/engine"
	"orbweaver/engine/records/neardup"
	"orbweaver/internal/cli/command"
)

// checkPartners refuses flags that say more about another one, which is missing. It looks at the command line alone: a
// variable or a file may be for several crawls, and a resume has all values of the run before.
func (c *Command) checkPartners(inv *command.Invocation, cfg *engine.Config) error {
	if inv.Args == nil { //nolint:nolintlint // tests make an Invocation by hand
		return nil
	}
	var bad command.Faults
	for _, of := range []struct {
		isThere bool
		remedy  string
		flags   []string
	}{
		{len(cfg.Mining.Mine) > 0, "--mine", []string{"mine-most"}},
		{len(cfg.Hook.Hooks) > 0, "--hook", []string{"hook-parallel", "hook-full", "hook-memory", "hook-timeout"}},
		{cfg.Seen.Near.Mode != neardup.Off, "--near-duplicates", []string{"near-duplicates-max"}},
		{len(cfg.Seen.Others.From) > 0, "--dedup-from", []string{"dedup-max-age"}},
		{c.Uploads.Target != "", "--upload", []string{"upload-parallel", "upload-part"}},
		{c.Uploads.Command != "", "--on-warc-close", []string{"on-warc-close-parallel", "on-warc-close-timeout"}},
		{!c.Uploads.IsOff(), "--upload or --on-warc-close", []string{"upload-wait"}},
		{c.Agent != "", "--agent", []string{"gossip", "agent-return-wait", "peer-quota", "recover"}},
		{c.DryRun, "--dry-run", []string{"depth"}},
	} {
		for _, p := range inv.Args.Path {
			if !of.isThere && p.Flag != nil && !p.Resolved && slices.Contains(of.flags, p.Flag.Name) {
				bad.Add("--"+p.Flag.Name, errors.New("is for "+of.remedy+": add that, or leave it out"))
			}
		}
	}
	return bad.Err()
}
