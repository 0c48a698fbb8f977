package fsck

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"slices"

	"orbweaver/engine/operate/report"
	"orbweaver/engine/records/capture"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/store/recrawl"
	"orbweaver/internal/urlx"
	"orbweaver/sieve"
	"orbweaver/sieve/fpcache"
	"orbweaver/virtualize"
	"orbweaver/virtualize/diskq"
	"orbweaver/warc/cdxj"
	"orbweaver/workbench/cold"
)

// componentCheck checks each component, and the files beside them.
type componentCheck struct{ *checker }

// checkAll opens every component at the checkpoint, and has it check itself.
func (c *componentCheck) checkAll() {
	var err error
	if c.agents, err = c.cut.Cluster(); err != nil {
		c.fail("manifest", layout.ManifestFile, err)
	}
	type step struct {
		area, where string
		run         func() error
	}
	cluster := clusterCheck{c.checker}
	steps := []step{
		{"sieve", layout.SieveDir, c.checkSieve},
		{"ready", layout.ReadyDir, func() error { return c.checkReady("ready", layout.ReadyDir, &c.cut.Ready, &c.ready) }},
		{"urgent", layout.UrgentDir, c.checkUrgent},
		{"skipped", layout.SkippedDir, c.checkSkipped},
		{"queues", layout.QueuesDir, c.checkQueues},
		{"seen", layout.SeenDir, c.checkSeen},
		{"near", layout.NearDir, c.checkNear},
		{"bench", c.cut.WorkbenchFile(), c.checkBench},
		{"cold", layout.ColdDir, c.checkCold},
		{"cache", layout.CacheFile, c.checkCache},
		{"catalogue", recrawl.IndexFile(c.cut.Pass), c.checkCatalogue},
		{areaOutbox, layout.OutboxDir, cluster.checkOutbox},
		{areaFetched, layout.FetchedDir, cluster.checkFetched},
	}
	if c.cut.Afresh {
		c.note("manifest", layout.ManifestFile,
			"the crawl was begun again and then ended: a new pass begins with empty components")
		steps = slices.DeleteFunc(steps, func(s step) bool { return s.area != "seen" && s.area != "catalogue" })
	}
	for _, s := range steps {
		if c.ctx.Err() != nil {
			return
		}
		c.o.Progress(s.where)
		if err := s.run(); err != nil {
			c.fail(s.area, s.where, err)
		}
		if n := c.fsys.Hidden(c.path(s.where)); n > 0 {
			c.note(s.area, s.where,
				"%d files that the checkpoint does not name; they are removed when the crawl resumes", n)
		}
	}
}

func (c *componentCheck) checkSieve() error {
	s, err := sieve.Open(c.fsys, sieve.Options{Dir: c.path(layout.SieveDir)}, &c.cut.Sieve)
	if err != nil {
		return err
	}
	c.sieve.set(s)
	c.closers = append(c.closers, s)
	c.checked("sieve", int64(s.Len())+int64(s.Pending()), "URLs")
	return s.Check()
}

// checkReady checks one of the two ready queues.
func (c *componentCheck) checkReady(area, dir string, at *diskq.Checkpoint, into *opened[*diskq.Queue]) error {
	q, err := diskq.Open(c.fsys, diskq.Options{Dir: c.path(dir)}, at)
	if err != nil {
		return err
	}
	into.set(q)
	c.closers = append(c.closers, q)
	c.checked(area, int64(q.Len()), "URLs")
	return q.Check()
}

func (c *componentCheck) checkUrgent() error {
	if c.cut.Urgent == nil {
		return nil // a crawl of a version that had one ready queue
	}
	return c.checkReady("urgent", layout.UrgentDir, c.cut.Urgent, &c.urgent)
}

// checkSkipped reads the list of URLs left out.
func (c *componentCheck) checkSkipped() error {
	if c.cut.Skipped == nil {
		return nil // a crawl of a version that kept no such list
	}
	rules, err := c.cut.CountSkipped()
	if err != nil {
		return err
	}
	n := int64(0)
	for rule, have := range rules {
		n += have
		if told := c.cut.Counters.Skipped[rule]; have != told {
			c.fault("skipped", layout.SkippedDir, "%d URLs are listed under rule %d, and the counters say %d", have,
				rule, told)
		}
	}
	c.checked("skipped", n, "URLs")
	return nil
}

func (c *componentCheck) checkQueues() error {
	v, err := virtualize.Open(c.fsys, virtualize.Options{Dir: c.path(layout.QueuesDir)}, &c.cut.Virt)
	if err != nil {
		return err
	}
	c.virt.set(v)
	c.closers = append(c.closers, v)
	c.checked("queues", int64(v.Total()), "URLs")
	return v.Check()
}

func (c *componentCheck) checkSeen() error {
	m, err := dedup.Open(c.fsys, dedup.Options{Dir: c.path(layout.SeenDir), MemoryBytes: 1 << 20}, &c.cut.Seen)
	if err != nil {
		return err
	}
	c.dedup.set(m)
	c.closers = append(c.closers, m)
	c.checked("seen", int64(m.Len()), "payload digests")
	return m.Check()
}

// checkNear reads the texts that pages are compared with, if the crawl has them.
func (c *componentCheck) checkNear() error {
	if c.cut.Near == nil {
		return nil
	}
	m, err := dedup.Open(c.fsys, dedup.Options{Dir: c.path(layout.NearDir), MemoryBytes: 1 << 20}, c.cut.Near)
	if err != nil {
		return err
	}
	c.closers = append(c.closers, m)
	c.checked("near", int64(m.Len()), "texts of pages")
	return m.Check()
}

func (c *componentCheck) checkBench() error {
	bench, err := c.cut.Workbench()
	if err != nil {
		return err
	}
	c.bench.set(bench)
	c.checked("bench", int64(bench.Len()), "sites")
	return bench.Check()
}

// checkCold reads the hosts that are on disk: each is in one place, and can be brought back (H3).
func (c *componentCheck) checkCold() error {
	s, err := cold.Open(c.fsys, cold.Options{Dir: c.path(layout.ColdDir), Seed: c.cut.HashSeed}, &c.cut.Cold)
	if err != nil {
		return err
	}
	c.checked("cold", int64(s.Len()), "sites")
	err = s.Check()
	if bench, ok := c.bench.get(); ok && err == nil {
		err = s.Each(func(key, form []byte) bool {
			if err := bench.CheckCold(key, form); err != nil {
				c.fault("cold", layout.ColdDir, "%v", err)
			}
			return c.ctx.Err() == nil
		})
	}
	return errors.Join(err, s.Close())
}

// checkCatalogue reads the list of what the archive held when this pass began; the crawl makes it again if it has to.
func (c *componentCheck) checkCatalogue() error {
	if c.cut.Earlier == nil {
		return nil
	}
	name := recrawl.IndexFile(c.cut.Pass)
	list, err := capture.OpenIndex(c.fsys, c.path(name), *c.cut.Earlier)
	if err == nil {
		c.checked("catalogue", list.Len(), "captures")
		err = errors.Join(list.Check(), list.Close())
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, capture.ErrIndexCorrupt) {
		c.note("catalogue", name,
			"missing or damaged (%v); it is made again from the archive, or its pages are fetched whole", err)
		return nil
	}
	return err
}

// checkCache looks at what keeps the door warm after an orderly stop; the crawl goes on without it.
func (c *componentCheck) checkCache() error {
	f, err := c.fsys.Open(c.path(layout.CacheFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	var generation uint64
	err = binary.Read(in, binary.LittleEndian, &generation)
	if err == nil {
		_, err = fpcache.Load(in)
	}
	if err != nil {
		c.note("cache", layout.CacheFile, "damaged (%v); the crawl resumes with an empty one", err)
	}
	c.checked("cache", 1, "file")
	return nil
}

// checkSeeds holds each kept seed against the normal form.
func (c *componentCheck) checkSeeds() {
	f, err := c.fsys.Open(c.path(layout.SeedsFile))
	if err != nil {
		c.fail("seeds", layout.SeedsFile, err)
		return
	}
	defer f.Close()
	in := cdxj.ReadLines(f, cdxj.LineMax)
	var url []byte
	for {
		line, err := in.Next()
		line = bytes.TrimRight(line, "\r\n")
		if err == nil {
			if url, err = urlx.Normalize(url[:0], line); err != nil || !bytes.Equal(url, line) {
				c.fault("seeds", layout.SeedsFile, "line %d is no URL in normal form: %.100q", in.Number, line)
			}
			continue
		}
		if err != io.EOF { //nolint:errorlint // Next returns it unwrapped
			c.fail("seeds", layout.SeedsFile, err)
		}
		if !errors.Is(err, cdxj.ErrLine) {
			break
		}
	}
	c.checked("seeds", int64(in.Number)-1, "URLs")
}

// checkHostRules reads the rules that the operator gave for single hosts, if there are any.
func (c *componentCheck) checkHostRules() {
	_, rules, err := settings.ReadHostRules(c.fsys, c.path(layout.FrontierDir))
	if err != nil {
		c.fault("host-rules", layout.HostRulesFile, "%v", err)
		return
	}
	if rules.Len() > 0 {
		c.checked("host-rules", int64(rules.Len()), "rules")
	}
}

// checkReport reads report.json; after an orderly stop it says what the checkpoint says.
func (c *componentCheck) checkReport() {
	const area, file = "report", layout.ReportFile
	r, err := report.Read(c.fsys, c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		c.note(area, file, "there is none: the crawl ended before it wrote the first")
		return
	}
	if err != nil {
		c.fail(area, file, err)
		return
	}
	c.checked(area, 1, "file")
	var finished int64
	for _, n := range r.Outcomes {
		finished += n
	}
	if r.URLsAdmitted != finished+r.URLsQueued+r.URLsInFlight {
		c.fault(area, file, "%d URLs admitted, but %d have an outcome, %d are queued and %d in flight (E1)",
			r.URLsAdmitted, finished, r.URLsQueued, r.URLsInFlight)
	}
	if !c.cut.Clean {
		return
	}
	if r.State != c.cut.State {
		c.note(area, file, "it says %q and the checkpoint %q: the crawl was killed after its last checkpoint",
			r.State, c.cut.State)
		return
	}
	n := &c.cut.Counters
	for _, pair := range []struct {
		name      string
		told, cut int64
	}{
		{"urls_found", r.URLsFound, n.URLsFound}, {"urls_admitted", r.URLsAdmitted, n.URLsAdmitted},
		{"outcomes", finished, n.Finished()}, {"pages_stored", r.PagesStored, n.PagesStored},
		{"revisits_stored", r.RevisitsStored, n.RevisitsStored},
		{"pages_unchanged", r.PagesUnchanged, n.PagesUnchanged}, {"attempts", r.Attempts, n.Attempts},
	} {
		if pair.told != pair.cut {
			c.fault(area, file, "%s is %d, and %d in the checkpoint", pair.name, pair.told, pair.cut)
		}
	}
}
