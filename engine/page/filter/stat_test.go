package filter

import "testing"

// A number that is not finite, or does not fit, is no number: it counts as a failed evaluation, and adds nothing.
func TestStat_numbersAreFinite(t *testing.T) {
	url := []byte("http://a.test/")
	for _, text := range []string{
		"int(1/depth)", "int(-1/depth)", "int(0/depth)", "1/depth", "round(1/depth)", "2.0 ** 5000", "int(2.0 ** 63)",
		"int('9223372036854775808')", "int(url)", "1 % depth",
	} {
		f, err := Compile(&Options{Stats: []string{"x=" + text}, Score: text}, nil, true)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var page ScoredPage
		sum, score := f.Stats[0].Of(url, Way{}, &Response{}, Answer{}), f.Score.Of(&page, Link{URL: url}, nil, 15)
		if n := f.Errors(); sum != 0 || score != 0 || n["stat x"] != 1 || n["score"] != 1 {
			t.Errorf("%s is %g and %d, with %v failures", text, sum, score, n)
		}
	}
	for text, want := range map[string]float64{
		"int(2.9)": 2, "int(-2.9)": -2, "int('12')": 12, "int(size)": 7, "int(depth)": 0, "int(-(2.0 ** 63))": -1 << 63,
		"int(len(split(path, '/')))": 2, "int(split('4 5', ' ')[1])": 5, "int([1.5, 2.5][1])": 2,
	} {
		list, err := CompileStats([]string{"x=" + text}, nil, true)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := list[0].Of(url, Way{}, &Response{Size: 7}, Answer{}); got != want || list[0].Errors() > 0 {
			t.Errorf("%s is %g", text, got)
		}
	}
}
