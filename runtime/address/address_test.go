package address

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, test := range []struct{ in, out, scheme, host, path, domain, entity, id string }{
		{"hyperty://a.example/x", "", "hyperty", "a.example", "/x", "a.example", "", "x"},
		{"HYPERTY://A.Example/X/", "hyperty://a.example/X", "hyperty", "a.example", "/X", "a.example", "", "X"},
		{"hyperty-runtime://d/r", "runtime://d/r", "runtime", "d", "/r", "d", "", "r"},
		{"runtime://d:8080/r/registry/", "runtime://d:8080/r/registry", "runtime", "d:8080", "/r/registry", "d:8080", "runtime://d:8080/r", "r"},
		{"domain://registry.d", "", "domain", "registry.d", "", "d", "", ""},
		{"domain://registry.d/", "domain://registry.d", "domain", "registry.d", "", "d", "", ""},
		{"domain://msg-node.a.example/sm", "", "domain", "msg-node.a.example", "/sm", "a.example", "", "sm"},
		{"domain://msg-node.", "", "domain", "msg-node.", "", "msg-node.", "", ""},
		{"global://registry/", "global://registry", "global", "registry", "", "", "", ""},
		{"comm://d/o/children/a/b", "", "comm", "d", "/o/children/a/b", "d", "comm://d/o", "o"},
		{"comm://a.b/abc/a", "", "comm", "a.b", "/abc/a", "a.b", "comm://a.b/abc", "abc"},
		{"slack://user@Slack.com/c", "slack://user@slack.com/c", "slack", "user@slack.com", "/c", "slack.com", "", "c"},
		{"hyperty://d/x#1", "", "hyperty", "d", "/x#1", "d", "", "x#1"},
		{"hyperty://[::1]:80/x", "", "hyperty", "[::1]:80", "/x", "[::1]:80", "", "x"},
		{"hyperty://größe.example/ü", "", "hyperty", "größe.example", "/ü", "größe.example", "", "ü"},
		{"hyperty://ÄK.example/x", "hyperty://Äk.example/x", "hyperty", "Äk.example", "/x", "Äk.example", "", "x"},
		{"hyperty://d/a%20b", "", "hyperty", "d", "/a%20b", "d", "", "a%20b"},
		{"hyperty://__proto__/__proto__", "", "hyperty", "__proto__", "/__proto__", "__proto__", "", "__proto__"},
		{"x1-y://d", "", "x1-y", "d", "", "d", "", ""},
		{"hyperty://d/../x", "", "hyperty", "d", "/../x", "d", "hyperty://d/..", ".."},
	} {
		a, err := Parse(test.in)
		if err != nil {
			t.Errorf("%q: %v", test.in, err)
			continue
		}
		out, entity := test.out, test.entity
		if out == "" {
			out = test.in
		}
		if entity == "" {
			entity = out
		}
		if a.String() != out || a.Scheme() != test.scheme || a.Host() != test.host || a.Path() != test.path || a.Domain() != test.domain ||
			a.Entity().String() != entity || a.ID() != test.id || a.IsZero() {
			t.Errorf("%q: %q %q %q %q %q %q %q", test.in, a, a.Scheme(), a.Host(), a.Path(), a.Domain(), a.Entity(), a.ID())
		}
		check(t, a)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, test := range []struct{ in, why string }{
		{"", "empty"},
		{"hyperty://d/" + strings.Repeat("x", MaxLength), "longer"},
		{"hyperty", "\"://\""},
		{"hyperty:/d/x", "\"://\""},
		{"mn:/session", "\"://\""},
		{"://d/x", "scheme"},
		{"-x://d/x", "scheme"},
		{"__proto__://d/x", "scheme"},
		{"hypérty://d/x", "scheme"},
		{"hyp erty://d/x", "scheme"},
		{"hyperty:///x", "no host"},
		{"hyperty://", "no host"},
		{"hyperty://a b/x", "host holds \" \""},
		{"hyperty://a,b/x", "host holds \",\""},
		{"hyperty://d?q", "host holds \"?\""},
		{"hyperty://a\x00/x", "host holds \"\\x00\""},
		{"hyperty://user@/x", "after the user"},
		{"hyperty://d/x?q", "path holds \"?\""},
		{"hyperty://d/x y", "path holds \" \""},
		{"hyperty://d/x\n", "path holds \"\\x0a\""},
		{"hyperty://d/x\x7f", "path holds"},
		{"hyperty://d/\"", "path holds"},
		{"hyperty://d/<x", "path holds"},
		{"hyperty://d/\\x", "path holds"},
		{"hyperty://d//", "empty segment"},
		{"hyperty://d/x//", "empty segment"},
		{"hyperty://d//x", "empty segment"},
		{"hyperty://d/x//y", "empty segment"},
		{"runtime://d", "needs an id"},
		{"runtime://d/", "needs an id"},
		{"hyperty-runtime://d", "needs an id"},
		{"hyperty://d/\xff", "UTF-8"},
		{"hyperty://\xed\xa0\x80/x", "UTF-8"},
	} {
		a, err := Parse(test.in)
		if err == nil || !a.IsZero() {
			t.Errorf("%q is taken as %q", test.in, a)
			continue
		}
		if text := err.Error(); !strings.HasPrefix(text, "address: ") || !strings.Contains(text, test.why) || len(text) > 500 {
			t.Errorf("%q: %v does not say %q", test.in, err, test.why)
		}
	}
}

func TestClasses(t *testing.T) {
	for url, want := range map[string]Class{
		"domain://registry.d":                     Backend,
		"domain://d":                              Backend,
		"global://registry":                       Backend,
		"domain-idp://d/x":                        Backend,
		"hyperty://registry.d/x":                  Backend,
		"hyperty://msg-node.d/x":                  Backend,
		"runtime://msg-node.d/x":                  Backend,
		"hyperty://my.registry.example/1":         Entity,
		"hyperty://registry/1":                    Entity,
		"hyperty://d/x":                           Entity,
		"hyperty://d":                             Entity,
		"hyperty://d/changes":                     Entity,
		"hyperty://d/status":                      Entity,
		"hyperty://d/x/subscription":              Entity,
		"hyperty://d/x/changes/more":              Entity,
		"hyperty://d/x/y/changes":                 Entity,
		"user://d/x":                              Entity,
		"__x":                                     None,
		"comm://d/o/changes":                      Publish,
		"comm://d/o/changes/":                     Publish,
		"comm://d/o/children/":                    Publish,
		"comm://d/o/children/a/b":                 Publish,
		"hyperty://d/x/registration":              Publish,
		"hyperty://d/x/status":                    Publish,
		"runtime://d/r":                           Runtime,
		"runtime://d/status":                      Runtime,
		"runtime://d/p2p":                         Runtime,
		"runtime://d/registry/changes":            Runtime,
		"runtime://d/r/sm":                        Runtime,
		"runtime://d/r/registry":                  Runtime,
		"runtime://d/r/registry/":                 Runtime,
		"runtime://d/r/registry/x/changes":        Runtime,
		"runtime://d/r/status":                    Publish,
		"runtime://d/r/registry/changes":          Publish,
		"hyperty-runtime://d/r/registry/changes/": Publish,
		"runtime://d/protostub/1/status":          Publish,
		"runtime://d/r/p2p":                       Signalling,
		"runtime://d/r/p2phandler/1":              Signalling,
		"runtime://d/r/p2prequester/1":            Signalling,
		"runtime://d/r/p2phandler/1/status":       Signalling,
		"queue://q":                               Destination,
		"topic://registry.d/t":                    Destination,
	} {
		a, err := Parse(url)
		if (err != nil) != (want == None) || a.Class() != want {
			t.Errorf("%s is %s (%v), not %s", url, a.Class(), err, want)
		}
	}
	if None.String() != "none" || Destination.String() != "destination" {
		t.Error("classes have the wrong names")
	}
}

func TestRelations(t *testing.T) {
	a := MustParse("runtime://d/r")
	ab := MustParse("runtime://d/r1")
	part := MustParse("runtime://d/r/sm")
	switch {
	case !a.IsRuntime(), part.IsRuntime(), MustParse("hyperty://d/r").IsRuntime(), MustParse("runtime://registry.d/r").IsRuntime(), Address{}.IsRuntime():
		t.Error("IsRuntime")
	case !part.Within(a), !a.Within(a), ab.Within(a), a.Within(part), Address{}.Within(Address{}), Address{}.Within(a):
		// A runtime whose URL begins like another's is not within it.
		t.Error("Within")
	case part.Entity() != a, a.Join("sm") != part, a.Join("p2p/1").Class() != Signalling, a.Join("sm").Entity() != a:
		t.Error("Join and Entity")
	case !a.Less(ab), ab.Less(a), a.Less(a):
		t.Error("Less")
	case !(Address{}).IsZero(), (Address{}).String() != "", (Address{}).Domain() != "", (Address{}).Class() != None, (Address{}).Entity() != Address{}:
		t.Error("the zero Address")
	case MustParse("hyperty://d").Join("x") != MustParse("hyperty://d/x"):
		t.Error("Join on a bare host")
	}
	defer func() {
		if recover() == nil {
			t.Error("MustParse takes nonsense")
		}
	}()
	MustParse("nonsense")
}

func TestPartsDoNotAllocate(t *testing.T) {
	a := MustParse("hyperty://registry-of.d/x/changes")
	b := a.Entity()
	if n := testing.AllocsPerRun(100, func() {
		if !a.Within(b) || a.Domain() == "" || a.ID() != "x" {
			t.Fail()
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// check says what holds for every address.
func check(t *testing.T, a Address) {
	t.Helper()
	if again, err := Parse(a.String()); err != nil || again != a {
		t.Errorf("%q is parsed as %q, %v", a, again, err)
	}
	if a.Scheme()+"://"+a.Host()+a.Path() != a.String() {
		t.Errorf("%q is %q %q %q", a, a.Scheme(), a.Host(), a.Path())
	}
	e := a.Entity()
	if again, err := Parse(e.String()); err != nil || again != e || e.Entity() != e || !a.Within(e) || e.ID() != a.ID() || e.Domain() != a.Domain() {
		t.Errorf("%q has entity %q, which is parsed as %q, %v", a, e, again, err)
	}
	if a.Class() == None || a.Class().String() == "" || len(a.String()) > MaxLength {
		t.Errorf("%q has class %d and %d bytes", a, a.Class(), len(a.String()))
	}
	if a.IsRuntime() && a.Class() != Runtime {
		t.Errorf("%q is a runtime of class %s", a, a.Class())
	}
	if a.Class() == Runtime || a.Class() == Signalling {
		if !e.IsRuntime() {
			t.Errorf("%q is a part of %q, which is no runtime", a, e)
		}
	}
	if len(a.String()) < MaxLength-2 {
		if sub, err := Parse(a.String() + "/x"); err != nil || sub != a.Join("x") {
			t.Errorf("%q joined with x is %q, not %q, %v", a, a.Join("x"), sub, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"hyperty://a.example/x", "hyperty-runtime://D/r/registry/changes/", "domain://msg-node.d/sm", "comm://d/o/children/a", "queue://q",
		"slack://u@h/c", "a://b//", "a://b/c//", "\xff://x", "runtime://d/status", "a://İ/x", "a://b@/c", "global://registry/",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := Parse(s)
		if err != nil {
			if !a.IsZero() {
				t.Fatalf("%q comes with %v", a, err)
			}
			return
		}
		check(t, a)
	})
}
