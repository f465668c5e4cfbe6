//! The folder of a report: every figure and table with its numbers, warnings in sight, nothing of a caption taken for HTML.

use counterfair::report::{Figure, Manifest, Report, Section, Table};
use std::fs;
use std::path::Path;

#[test]
fn a_report_holds_every_number_and_every_warning() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report-folder");
    let _ = fs::remove_dir_all(&folder);
    let mut table = Table::new("Shares", 1, ["level", "share"]);
    table.push(["a,b", "0.25"]);
    let figure = Figure {
        name: "curve".into(),
        svg: "<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>".into(),
        caption: "CF metric <b>falls</b> & stays".into(),
        csv: "n,metric\n100,0.5\n".into(),
    };
    let figures = Section {
        label: "fig:one".into(),
        title: "One".into(),
        warning: "simulated, not <recorded>".into(),
        figures: vec![figure],
        tables: vec![table],
        ..Section::default()
    };
    let claims = Section { label: "claims".into(), title: "Claims".into(), ..Section::default() };
    let manifest = Manifest::of_command("0.0.0", "counterfair reproduce".into(), 1);
    let page = Report { manifest, sections: vec![figures, claims] }.write(&folder).unwrap();
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("simulated, not &lt;recorded&gt;"), "{text}");
    assert!(text.contains("CF metric &lt;b&gt;falls&lt;/b&gt; &amp; stays") && !text.contains("<b>"), "{text}");
    assert_eq!(fs::read_to_string(folder.join("curve.csv")).unwrap(), "n,metric\n100,0.5\n");
    let tables: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with("-table-1.csv"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    assert_eq!(tables, ["level,share\n\"a,b\",0.25\n"]);
    assert!(fs::read_to_string(folder.join("claims.html")).unwrap().contains("Claims"));
    for name in ["index.html", "curve.svg", "manifest.json"] {
        assert!(folder.join(name).exists(), "{name}");
    }
    fs::remove_dir_all(&folder).unwrap();
}
