package content

import (
	"strconv"

	"orbweaver/internal/simweb"
)

// areaRules are the rules that the areas of pages are about. The order must not matter, and the longest match wins.
const areaRules = "Disallow: /private/\nAllow: /private/open/\nDisallow: /*.secret$\nDisallow: /*/hidden/\n"

// robotsLimit is what a crawler has to read of a robots.txt.
const robotsLimit = 500 << 10

// AppendRobots appends the file of host i as it is when it can be had.
func (w *Writer) AppendRobots(dst []byte, i int) []byte {
	k := w.model.RobotsKind(i)
	switch k {
	case simweb.RobotsRules, simweb.RobotsRedirect:
		return w.appendRules(dst, i)
	case simweb.RobotsCrawlDelay:
		dst = append(dst, "User-agent: *\nCrawl-delay: "...)
		dst = strconv.AppendFloat(dst, w.config.Timing.CrawlDelay.Seconds(), 'g', -1, 64)
		return append(dst, "\nDisallow:\n"...)
	case simweb.RobotsDenyAll:
		return append(dst, "User-agent: *\nDisallow: /\n"...)
	case simweb.RobotsHTML:
		return append(dst, "<!DOCTYPE html><html><head><title>Not here</title></head><body><p>Nothing here: see "+
			"the <a href=\"/\">start</a>.</p></body></html>\n"...)
	case simweb.RobotsHuge:
		dst = append(dst, "User-agent: *\nDisallow: /nothing/\n"...)
		for n := 0; len(dst) < robotsLimit+50<<10; n++ {
			dst = append(dst, "# filler to make this file as long as no file should be, line "...)
			dst = strconv.AppendInt(dst, int64(n), 10)
			dst = append(dst, '\n')
		}
		dst = append(dst, "Disallow: /\n"...)
		for len(dst) < robotsLimit+100<<10 {
			dst = append(dst, "# and more\n"...)
		}
		return dst
	}
	return append(dst, "User-agent: *\nDisallow:\n"...)
}

// appendRules writes the same rules in one of the ways they are found in the wild.
func (w *Writer) appendRules(dst []byte, i int) []byte {
	switch w.model.Hash(simweb.SaltRobots, i, 2) % 6 {
	case 0:
		return append(append(dst, "User-agent: *\n"...), areaRules...)
	case 1: // our group beside a general one that must not be used
		dst = append(dst, "User-agent: *\nDisallow: /\n\nUser-Agent: "...)
		return append(append(append(dst, w.config.Agent...), '\n'), areaRules...)
	case 2: // two groups for us, to be merged, with another's between
		dst = append(append(dst, "user-agent: "...), w.config.Agent...)
		dst = append(dst, "\nDisallow: /private/\nAllow: /private/open/\n\n"...)
		dst = append(dst, "User-agent: otherbot\nDisallow: /\n\nUser-agent: "...)
		return append(append(dst, w.config.Agent...), "\nDisallow: /*.secret$\nDisallow: /*/hidden/\n"...)
	case 3: // byte order mark and CRLF
		dst = append(dst, "\xef\xbb\xbfUser-agent: *\r\nAllow: /private/open/\r\nDisallow: /private/\r\n"...)
		return append(dst, "Disallow: /*/hidden/\r\nDisallow: /*.secret$\r\n"...)
	case 4: // comments, spaces, unknown lines, a shared group
		dst = append(dst, "# rules\n\nSitemap: /nothing.xml\nUser-agent: otherbot\nUser-agent: *\n"...)
		dst = append(dst, "  disallow : /private/ # all\n"...)
		return append(dst, "Noindex: /\nALLOW: /private/open/\nDisallow: /*.secret$\nDisallow: /*/hidden/*\nnonsense\n"...)
	}
	// percent-encoded letters are the same letters
	dst = append(dst, "User-agent: *\nDisallow: /pr%69vate/\nAllow: /private/op%65n/\n"...)
	return append(dst, "Disallow: /*.secret$\nDisallow: /*/hidden/"...)
}
