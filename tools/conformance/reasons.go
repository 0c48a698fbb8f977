package main

// reasons say why what fails does fail. The first that speaks for a case counts.
func reasons() []reason {
	const (
		unicode17 = "an ideograph of Unicode 17: golang.org/x/net/idna has the tables of Unicode 15 until Go 1.27, and " +
			"refuses what it does not know"
		iso2022 = "ISO-2022-JP pages are decoded as a whole, and queries of their links are then written in UTF-8"
		noLabel = "a name with an empty label: there is none in the DNS, and a scope looks at the labels behind it"
	)
	return []reason{
		{"idna", `"\U0003293120.\u97f3.\ua8661." (A4_2 (ignored))`, unicode17},
		{"idna", `"\U00032b9a9\ua369\u17d3.ss"`, unicode17},
		{"idna", `"\U00032b9a9\ua369\u17d3.SS"`, unicode17},
		{"query", `"\x0eA" in iso-2022-jp`, iso2022},
		{"query", `"\u203e\\" in iso-2022-jp`, iso2022},
		{"robots", "ID_Encoding, line 441:*", "" +
			"RFC 9309, 2.2.2: %62%61%7A is compared as baz, by the last row of its table. " +
			"Upstream remarks that this case should not be relied on"},
		{"charset-html5lib", "scripted/tests1.dat, case 1*", "a script says so, and no scripts are run"},
		{"mime-sniff", "BMP", "the two letters begin texts, too; the reserved bytes of a bitmap are asked for as well"},
		{"mime-sniff", "GZIP archive", "the registered name (RFC 6713) of the same type"},
		{"mime-sniff", "avif (first brand)", "the registered type, which the standard does not have yet"},
		{"psl", `".example.com"`, noLabel},
		{"psl", `".example.example"`, noLabel},
	}
}
