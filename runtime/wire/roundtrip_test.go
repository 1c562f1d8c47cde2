package wire

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
)

func allEvents() []engine.Event {
	return []engine.Event{
		&engine.EndpointRegistered{}, &engine.EndpointUnregistered{}, &engine.MessagePosted{}, &engine.AnswerReceived{},
		&engine.FrameReceived{}, &engine.HandleNamed{}, &engine.NoticeReceived{}, &engine.JSONReceived{},
		&engine.StubChanged{}, &engine.StubBlocked{}, &engine.StubWritable{}, &engine.RegistryAnswered{},
		&engine.RegistrationNotified{}, &engine.SignalReceived{}, &engine.PeerListed{}, &engine.NetworkChanged{}, &engine.StatsAsked{}, &engine.DeliveryTaken{},
		&engine.DeliveryRefused{}, &engine.ExplanationAsked{}, &engine.Restored{}, &engine.Closing{}, &engine.TimePassed{},
	}
}

func allEffects() []engine.Effect {
	return []engine.Effect{
		&engine.DeployNodeStub{}, &engine.ConnectStub{}, &engine.CloseStub{}, &engine.Subscribe{}, &engine.Unsubscribe{},
		&engine.RegisterEndpoint{}, &engine.RefreshEndpoint{}, &engine.UnregisterEndpoint{}, &engine.QueryRegistry{},
		&engine.NameHandle{}, &engine.Transmit{}, &engine.Forward{}, &engine.Hold{}, &engine.Drop{}, &engine.Deliver{},
		&engine.Discard{}, &engine.Settle{}, &engine.GiveUpAnswer{}, &engine.Release{}, &engine.Signal{},
		&engine.DialPeer{}, &engine.AnswerPeer{}, &engine.RestartPeer{}, &engine.SessionStats{}, &engine.Stats{}, &engine.Routed{}, &engine.PathChanged{}, &engine.SessionReset{},
		&engine.Gap{}, &engine.PresenceChanged{}, &engine.Explained{}, &engine.Wake{},
	}
}

// TestEveryTypeOfTheEngineIsListed reads the engine's source, so that a type added there can not be forgotten here.
func TestEveryTypeOfTheEngineIsListed(t *testing.T) {
	listed := map[string]map[string]bool{"event": {}, "effect": {}}
	for _, e := range allEvents() {
		listed["event"][reflect.TypeOf(e).Elem().Name()] = true
	}
	for _, e := range allEffects() {
		listed["effect"][reflect.TypeOf(e).Elem().Name()] = true
	}
	for kind, names := range listed {
		file, err := parser.ParseFile(token.NewFileSet(), "../engine/"+kind+".go", nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, d := range file.Decls {
			method, ok := d.(*ast.FuncDecl)
			if !ok || method.Recv == nil || method.Name.Name != kind {
				continue
			}
			name := method.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name
			if found++; !names[name] {
				t.Errorf("%s %s is not listed", kind, name)
			}
		}
		if found != len(names) {
			t.Errorf("%d %ss in the engine's source, %d listed", found, kind, len(names))
		}
	}
}

// TestRoundTrip fills every field of every type with values of all sizes, writes it, and reads it back.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var d Decoder
	for range 300 {
		for _, e := range allEvents() {
			fill(t, r, reflect.ValueOf(e).Elem())
			line := AppendEvent(nil, e)
			back, err := d.Event(line)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if !reflect.DeepEqual(e, back) {
				t.Fatalf("%s:\nwrote %+v\n read %+v", line, e, back)
			}
		}
		for _, e := range allEffects() {
			fill(t, r, reflect.ValueOf(e).Elem())
			line := AppendEffect(nil, e)
			back, err := d.Effect(line)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if !reflect.DeepEqual(e, back) {
				t.Fatalf("%s:\nwrote %+v\n read %+v", line, e, back)
			}
		}
		var c, back engine.Config
		fill(t, r, reflect.ValueOf(&c).Elem())
		line := AppendOpen(nil, c)
		back, err := d.Open(line)
		if err != nil || !reflect.DeepEqual(c, back) {
			t.Fatalf("%s:\nwrote %+v\n read %+v, %v", line, c, back, err)
		}
	}
}

// fill gives each field a value that the grammar can hold, every third time its zero.
func fill(t *testing.T, r *rand.Rand, v reflect.Value) {
	t.Helper()
	for i := range v.NumField() {
		f := v.Field(i)
		f.SetZero()
		if r.IntN(3) == 0 {
			continue
		}
		switch p := f.Addr().Interface().(type) {
		case *address.Address:
			*p = someAddress(r)
		case *[]address.Address:
			for range 1 + r.IntN(3) {
				*p = append(*p, someAddress(r))
			}
		case *[]engine.Part:
			for range 1 + r.IntN(3) {
				*p = append(*p, engine.Part{Msg: r.Uint64N(MaxNumber), Offset: r.IntN(1 << 24), Length: r.IntN(16001)})
			}
		case *engine.Wish:
			*p = engine.WishNever
		case *engine.Status:
			*p = engine.Status(r.IntN(5))
		case *[]string:
			for range 1 + r.IntN(3) {
				*p = append(*p, someText(r))
			}
		case *[]uint8:
			for range 1 + r.IntN(40) {
				*p = append(*p, uint8(r.Uint32()))
			}
		case *string:
			*p = someText(r)
		case *bool:
			*p = true
		case *int:
			*p = r.IntN(1 << r.IntN(30))
		case *uint64:
			*p = r.Uint64N(1 << r.IntN(53))
		case *engine.Instant:
			*p = engine.Instant(r.Uint64N(1 << 53))
		default:
			t.Fatalf("%s.%s: the test knows no %s", v.Type(), v.Type().Field(i).Name, f.Type())
		}
	}
}

func someText(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(12) {
		switch r.IntN(3) {
		case 0:
			b.WriteByte(byte(r.IntN(0x80)))
		case 1:
			b.WriteByte("abc-,%=: /"[r.IntN(10)])
		default:
			b.WriteRune([]rune("é€🙂\u2028\u0000")[r.IntN(5)])
		}
	}
	return b.String()
}

func someAddress(r *rand.Rand) address.Address {
	hosts := []string{"a.example", "b.example:8080", "registry.c.example", "user@d.example", "caf\u00e9.example", "x%y"}
	paths := []string{"/r1", "/r1/p2p", "/o/children/a,b", "/caf\u00e9", "/100%", "/x=y#1"}
	schemes := []string{"hyperty", "runtime", "comm"}
	return address.MustParse(schemes[r.IntN(len(schemes))] + "://" + hosts[r.IntN(len(hosts))] + paths[r.IntN(len(paths))])
}

// TestTimesThatNeverCome: a deadline may be as far away as a number can be, and the time that follows from it still has to be
// one that a body can read.
func TestTimesThatNeverCome(t *testing.T) {
	var d Decoder
	for _, at := range []engine.Instant{MaxNumber, MaxNumber + 1, 1<<64 - 1} {
		wake := &engine.Wake{At: at}
		back, err := d.Effect(AppendEffect(nil, wake))
		if err != nil || back.(*engine.Wake).At != MaxNumber || wake.At != at {
			t.Errorf("%d was read as %v, %v, and left as %d", at, back, err, wake.At)
		}
	}
}

func TestFrameRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var d Decoder
	events, effects := allEvents(), allEffects()
	for _, e := range events {
		fill(t, r, reflect.ValueOf(e).Elem())
	}
	for _, e := range effects {
		fill(t, r, reflect.ValueOf(e).Elem())
	}
	text := AppendFrame([]byte("x"), 77, events...)
	now, gotEvents, err := d.Frame(text[1:])
	if err != nil || now != 77 || !reflect.DeepEqual(events, gotEvents) {
		t.Errorf("%s\nnow %d, error %v", text, now, err)
	}
	text = AppendEffects([]byte("x"), effects)
	gotEffects, err := d.Effects(text[1:])
	if err != nil || !reflect.DeepEqual(effects, gotEffects) {
		t.Errorf("%s\nerror %v", text, err)
	}
	if now, got, err := d.Frame([]byte("at now=0\n")); now != 0 || len(got) != 0 || err != nil {
		t.Errorf("an empty frame: %d %v %v", now, got, err)
	}
}

// TestReadingDoesNotKeepTheInput: the body reuses its buffer at once.
func TestReadingDoesNotKeepTheInput(t *testing.T) {
	const text = "at now=1\n" +
		"frame-received stub=1 frame=2 head=0102\n" +
		"stub-changed stub=1 status=live reason=why%20not\n" +
		"peer-listed peer=runtime://b.example/r addresses=hyperty://b.example/bob\n"
	var d Decoder
	for range 2 {
		buffer := []byte(text)
		now, events, err := d.Frame(buffer)
		if err != nil {
			t.Fatal(err)
		}
		for i := range buffer {
			buffer[i] = 'z'
		}
		if got := string(AppendFrame(nil, now, events...)); got != text {
			t.Errorf("got\n%s", got)
		}
	}
}
