package storage

import (
	"orbweaver/engine/durable/checkpoint"
	"orbweaver/engine/records/neardup"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/manifest"
)

// openNear opens the texts that pages are compared with. A run that does not compare forgets them.
func (s *Storage) openNear(p Place, o neardup.Options, m *manifest.Manifest) error {
	if o.Mode == neardup.Off {
		m.Near = nil
		return nil
	}
	o.Map.Dir, o.Map.MemoryBytes = p.Dir+"/"+layout.NearDir, max(o.Most*2, 64<<10) // a filter of 11 bits, and tables
	pages, err := neardup.Open(p.FS, o, m.Near, p.Log.Warn)
	if err != nil {
		return err
	}
	s.Near, s.NearPart = pages, checkpoint.NearPages(pages.Map)
	s.closers.Add(pages.Close)
	return nil
}
