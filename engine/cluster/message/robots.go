package message

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
)

// AppendRobotsRedirect appends a redirect, whose URL is whole in it.Rest.
func AppendRobotsRedirect(dst []byte, it *queued.URL) []byte {
	return queued.Append(append(dst, RobotsRedirect), it)
}

// AppendRobotsResult appends the result of a redirect.
func AppendRobotsResult(dst []byte, r *site.RobotsResult, now time.Time) []byte {
	dst = append(dst, RobotsResult, version)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(now.Add(-r.Age).UnixNano()))
	dst = queued.AppendBytes(dst, r.Site)
	if r.Rules == nil {
		return queued.AppendBytes(dst, nil)
	}
	return queued.AppendBytes(dst, r.Rules.Append(nil))
}

// readRobotsResult reads the result of a redirect, which owns its memory.
func (r *reader) readRobotsResult(item []byte) (*site.RobotsResult, error) {
	result := new(site.RobotsResult)
	rest, ok := cutAge(&result.Age, item)
	if !ok {
		return nil, fmt.Errorf("not the result of a robots.txt: %.40q", item)
	}
	key, rest, ok := queued.CutBytes(rest)
	if !ok || !r.isSite(key) {
		return nil, fmt.Errorf("robots.txt rules of no site: %.200q", key)
	}
	result.Site = bytes.Clone(key)
	text, rest, ok := queued.CutBytes(rest)
	if !ok || len(rest) > 0 {
		return nil, fmt.Errorf("not the robots.txt rules of %.200q", key)
	}
	if result.Unreachable = len(text) == 0; result.Unreachable {
		return result, nil
	}
	var err error
	result.Rules, err = r.rules.Decode(text)
	return result, err
}
