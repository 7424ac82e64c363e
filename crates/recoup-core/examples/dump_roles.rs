use recoup_core::memory::checks::roles::{ROLES, dump};
fn main() {
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        println!("{line}");
        for (text, shares) in dump(&line) {
            let mut all: Vec<(f32, &str)> =
                shares.iter().zip(ROLES).map(|(s, r)| (*s, r.0)).collect();
            all.sort_by(|a, b| b.0.total_cmp(&a.0));
            if all[0].1 != "" || all[0].0 < 0.8 {
                println!(
                    "    {text:20} {}:{:.2} {}:{:.2} {}:{:.2}",
                    all[0].1, all[0].0, all[1].1, all[1].0, all[2].1, all[2].0
                );
            }
        }
    }
}
