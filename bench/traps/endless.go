package traps

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Format is a kind of file that leads to more files.
type Format string

// The formats.
const (
	Page   Format = "page"
	Style  Format = "style sheet"
	Script Format = "script"
	JSON   Format = "JSON"
	RSS    Format = "feed"
	SVG    Format = "SVG"
)

// Formats are all of them.
func Formats() []Format { return []Format{Page, Style, Script, JSON, RSS, SVG} }

// Naming is how the address of a file comes from its number. The file shows its name as text.
type Naming string

// The namings.
const (
	Decimal    Naming = "decimal"
	Padded     Naming = "padded"
	Hex        Naming = "hex"
	Alphabetic Naming = "letters"
	Encoded    Naming = "encoded" // letters, percent-encoded in the address
)

// Namings are all of them.
func Namings() []Naming { return []Naming{Decimal, Padded, Hex, Alphabetic, Encoded} }

// scatter and gather are inverse to each other modulo 2^32.
const (
	scatter uint32 = 2654435761
	gather  uint32 = 244002641
)

// of is the name of a number.
func (n Naming) of(number int) string {
	switch n {
	case Decimal:
		return strconv.Itoa(number)
	case Padded:
		return fmt.Sprintf("%09d", number)
	case Hex:
		return fmt.Sprintf("%08x", uint32(number)*scatter)
	default:
		var b [7]byte
		for i, id := len(b)-1, uint32(number)*scatter; i >= 0; i-- {
			b[i], id = byte('a'+id%26), id/26
		}
		return string(b[:])
	}
}

// number is the number of a name.
func (n Naming) number(name string) (number int, ok bool) {
	base := map[Naming]int{Decimal: 10, Padded: 10, Hex: 16}[n]
	if base == 10 {
		number, err := strconv.Atoi(name)
		return number, err == nil
	}
	var id uint64
	var err error
	if base == 16 {
		id, err = strconv.ParseUint(name, 16, 32)
	} else {
		for _, c := range name {
			id = id*26 + uint64(c-'a')
		}
	}
	return int(uint32(id) * gather), err == nil
}

// inURL is a name as it stands in an address.
func (n Naming) inURL(name string) string {
	if n != Encoded {
		return name
	}
	var b strings.Builder
	for _, c := range []byte(name) {
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// EndlessFiles are files of one format without an end, and each leads to so many others. All that they say is
// addresses, numbers and dates.
func EndlessFiles(seed uint64, size Size, format Format, naming Naming, fan int) Case {
	const folder = "/endless/"
	first := folder + naming.inURL(naming.of(0))
	h := newHonest(newLanguage(seed, 60), size.Honest, func(int) []string { return []string{first} })
	name := fmt.Sprintf("%s, %s, %d links", format, naming, fan)
	return one("E01", name, h, func(target string) Answer {
		own, ok := strings.CutPrefix(target, folder)
		if naming == Encoded { // normal forms keep letters, so they come decoded or not
			own = decodePercent(own)
		}
		n, isName := naming.number(own)
		if !ok || !isName || n < 0 {
			return Answer{Status: 404}
		}
		var next []string
		for k := range fan {
			next = append(next, folder+naming.inURL(naming.of(n*fan+k+1)))
		}
		media, body := format.write(own, n, next)
		return Answer{Kind: Trap, Type: media, Body: []byte(body)}
	})
}

// decodePercent decodes %XX.
func decodePercent(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// write is a file with its media type.
func (f Format) write(own string, n int, next []string) (media, body string) {
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, n%1e6)
	var b strings.Builder
	switch f {
	case Style:
		fmt.Fprintf(&b, "/* sheet %s */\n", own)
		for _, to := range next {
			fmt.Fprintf(&b, "@import url(\"%s\");\n", to)
		}
		fmt.Fprintf(&b, ".s%d { color: #%06x; margin: %dpx }\n", n, uint32(n)*scatter>>8, n)
		return "text/css", b.String()
	case Script:
		fmt.Fprintf(&b, "var page%d = %q, at = %q;\n", n, own, day.Format(time.RFC3339))
		for _, to := range next {
			fmt.Fprintf(&b, "load(%q);\n", to)
		}
		return "text/javascript", b.String()
	case JSON:
		fmt.Fprintf(&b, `{"id": %q, "page": %d, "created": %q, "items": [], "next": [`, own, n, day.Format(time.RFC3339))
		for i, to := range next {
			b.WriteString(strings.Repeat(", ", min(i, 1)) + strconv.Quote(to))
		}
		return "application/json", b.String() + "]}"
	case RSS:
		fmt.Fprintf(&b, "<?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel><title>Entry %s</title>", own)
		for _, to := range next {
			fmt.Fprintf(&b, "<item><title>Entry</title><link>http://e01.test%s</link>", to)
			fmt.Fprintf(&b, "<guid>%s</guid><pubDate>%s</pubDate></item>", to, day.Format(time.RFC1123Z))
		}
		return "application/rss+xml", b.String() + "</channel></rss>"
	case SVG:
		fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\"><text x=\"%d\">Sheet %s of %d</text>", n, own, n+1)
		for _, to := range next {
			fmt.Fprintf(&b, "<a href=\"%s\"><text>%s</text></a>", to, to)
		}
		return "image/svg+xml", b.String() + "</svg>"
	default:
		text := fmt.Sprintf("%s: page %d of 1,000,000, %s. No entries were found. %s", own, n, day.Format("2 January 2006"),
			strings.Join(next, " "))
		return "text/html", string(page("Page "+own, text, next...))
	}
}
