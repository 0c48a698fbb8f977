package cdxj

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// scanned lists what ScanLines finds: a line each, or its damage.
func scanned(t *testing.T, text string) (all []string) {
	t.Helper()
	err := ScanLines(strings.NewReader(text), func(line []byte, said *Line, damage error) error {
		one := fmt.Sprintf("%s %s %s %s %d %s %d+%d %s at %d", said.Key, said.Stamp, said.URL, said.MIME, said.Status,
			said.Digest, said.Offset, said.Length, said.File, said.At)
		if damage != nil {
			if one = damage.Error(); !errors.Is(damage, ErrLine) {
				t.Error(damage)
			}
		} else if text[said.At:said.At+int64(len(line))] != string(line) {
			t.Errorf("%q is not at %d", line, said.At)
		}
		all = append(all, one)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The letters of the first line say what the columns are. Without them the number of columns decides, as in pywb.
func TestScanLines_readsCDX(t *testing.T) {
	const key, url, digest = "com,example)/", "http://example.com/", "37cf167c2672a4a64af901d9484e75eee0e2c98a"
	const page = key + " 20160225042329 " + url + " text/html 200 " + digest
	const line = page + " - - 1286 363 example2.warc.gz\n" // of pywb's documentation
	const want = page + " 363+1286 example2.warc.gz at "
	for _, c := range []struct{ what, text, want string }{
		{"11 columns", " CDX N b a m s k r M S V g\n" + line, want + "27"},
		{"11 columns without header", line + "!meta 0 {}\n" + line, want + "0; " + want + "145"},
		{
			"9 columns", " CDX N b a m s k r V g\n" + page + " - 363 example2.warc.gz\n",
			page + " 363+0 example2.warc.gz at 23",
		},
		{"9 columns without header", page + " - 363 example2.warc.gz\n", page + " 363+0 example2.warc.gz at 0"},
		{"10 columns without header", page + " - - 363 example2.warc.gz\n", page + " 363+0 example2.warc.gz at 0"},
		{
			"what a revisit refers to", page + " - - 12 363 example2.warc.gz 1 2 x.warc.gz\n",
			page + " 363+12 example2.warc.gz at 0",
		},
		{
			"wpull's order", " CDX a b m s k S V g u\n" + url + " 20160225042329 text/html 200 " + digest +
				" 1286 363 example2.warc.gz <urn:uuid:1>\n",
			" 20160225042329 " + url + " text/html 200 " + digest + " 363+1286 example2.warc.gz at 23",
		},
		{
			"tabs and CR", "CDX\tN\tb\ta\tm\ts\tk\tS\tv\tg\r\n" + strings.ReplaceAll(page, " ", "\t") +
				"\t1286\t363\ta b.warc\r\n", page + " 363+1286 a b.warc at 23",
		},
		{
			"a revisit", key + " 20160225042329 " + url + " warc/revisit - " + digest + " - - 500 7 x.warc.gz\n",
			key + " 20160225042329 " + url + " warc/revisit 0 " + digest + " 7+500 x.warc.gz at 0",
		},
	} {
		if got := strings.Join(scanned(t, c.text), "; "); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// A line that cannot be read is named by its number, and the others are read.
func TestScanLines_namesDamagedLinesOfCDX(t *testing.T) {
	const good = "com,a)/ 20160225042329 http://a.com/ text/html 200 X - - 12 7 x.warc.gz\n"
	got := scanned(t, " CDX N b a m s k r M S V g\n"+good+"com,a)/ 2016\n"+strings.Replace(good, " 7 ", " - ", 1)+good)
	if len(got) != 4 || !strings.Contains(got[1], "line 3: ") || !strings.Contains(got[1], "it has 2 columns") ||
		!strings.Contains(got[2], "line 4: ") || !strings.Contains(got[2], `column V "-"`) {
		t.Errorf("%q", got)
	}
}
