package plural

import "testing"

func TestOneThingHasNoPlural(t *testing.T) {
	for want, got := range map[string]string{
		"1 site": Count(1, "site"), "0 sites": Count(0, "site"), "2 sites": Count(2, "site"), "21 sites": Count(21, "site"),
		"3 addresses": Count(uint64(3), "address"), "2 entries": Count(int64(2), "entry"), "1 entry": Count(1, "entry"),
		"4 batches": Count(4, "batch"), "sites": Noun(5, "site"),
		"999 sites": Count(999, "site"), "1,000 sites": Count(1000, "site"),
		"1,234,567 URLs": Count(1234567, "URL"), "-123": Number(-123), "-1,234": Number(-1234), "0": Number(0),
		"512 B": Bytes(512), "16 MiB": Bytes(16 << 20), "1.5 GiB": Bytes(3 << 29), "10 GiB": Bytes(10 << 30),
		"2 KiB": BytesOf(2<<10, 0), "2 KiB of 3 MiB": BytesOf(2<<10, 3<<20),
		"has":  Verb(1, "has", "have"),
		"have": Verb(0, "has", "have"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
