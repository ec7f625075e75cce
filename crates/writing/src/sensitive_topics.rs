//! Topics on which a wrong text harms its readers: health, money and law. Search engines call them "Your Money or Your Life"
//! (Google's guidelines for quality raters); a person reads what is published about them.
//!
//! A topic is recognised by its words: any of the list of its language, or of the English one. That asks a person too often
//! rather than too seldom. Languages without a list are recognised by English words only.

/// A sensitive topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SensitiveTopic {
    /// Diseases, treatment, medicine, nutrition of the ill.
    Health,
    /// Money that is borrowed, insured, invested, taxed or saved.
    Finance,
    /// Law, courts, residence.
    Law,
}

impl SensitiveTopic {
    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Health => "health",
            Self::Finance => "finance",
            Self::Law => "law",
        }
    }
}

/// Words of a language. A `*` at the end stands for any ending; in languages without spaces, any text that holds the word counts.
struct TopicWords {
    language: &'static str,
    health: &'static str,
    finance: &'static str,
    law: &'static str,
}

#[rustfmt::skip]
const WORDS: &[TopicWords] = &[
    TopicWords {
        language: "en",
        health: "symptom* disease* illness* cancer* tumour* tumor* diabet* medication* medicine* dosage* vaccin* pregnan* miscarriage depress* \
            anxiety surgery diagnos* antibiotic* asthma allerg* infection* cholesterol hypertension stroke dementia alzheimer* autis* adhd \
            addiction* suicid* painkiller* ibuprofen paracetamol insulin chemotherapy physician* doctor* hospital* arthritis migraine* epilep* \
            menopause fertility contracepti* std hiv covid* steroid* anorexi* bulimi*",
        finance: "mortgage* loan* invest* insurance* tax taxes taxation pension* retirement bankrupt* cryptocurrenc* crypto bitcoin stocks \
            etf etfs bond bonds dividend* debt* creditcard credit refinanc* inheritance payday annuit* forex brokerage* 401k ira savings",
        law: "lawsuit* lawyer* attorney* divorce* custody visa visas immigra* asylum deport* eviction* tenancy testament probate liability \
            copyright trademark* gdpr litigation sue alimony felony misdemeanor dui bail parole",
    },
    TopicWords {
        language: "de",
        health: "symptom* krankheit* erkrankung* krebs* tumor* diabetes medikament* arznei* dosierung* impf* schwanger* depression* angststörung* \
            operation* diagnose* antibiotik* asthma allergi* infektion* cholesterin* bluthochdruck schlaganfall* demenz* sucht* suizid* \
            schmerzmittel* ibuprofen paracetamol insulin chemotherapie arzt* ärzt* krankenhaus* migräne* epilep* wechseljahre verhütung*",
        finance: "kredit* hypothek* darlehen* baufinanzierung* geldanlage* versicherung* steuer steuern steuererklärung* einkommensteuer* \
            rente* altersvorsorge* insolvenz* krypto* bitcoin aktie* etf etfs anleihe* dividende* schulden* erbschaft* zinsen tagesgeld* festgeld*",
        law: "anwalt* anwält* rechtsanwalt* klage* scheidung* sorgerecht* unterhalt* kündigungsschutz* mietrecht* visum* aufenthalts* asyl* \
            abschiebung* testament* haftung* urheberrecht* markenrecht* dsgvo abmahnung* strafrecht* arbeitsrecht* erbrecht*",
    },
    TopicWords {
        language: "fr",
        health: "symptôme* maladie* cancer* tumeur* diabète* médicament* posologie* vaccin* grossesse* enceinte dépression* anxiété chirurgi* \
            diagnosti* antibiotique* asthme allergi* infection* cholestérol hypertension avc démence addiction* suicid* ibuprofène paracétamol \
            insuline chimiothérapie médecin* hôpital* migraine* épilep* ménopause contracepti*",
        finance: "crédit* prêt* hypothèque* investi* assurance* impôt* fiscal* retraite* faillite* cryptomonnaie* bitcoin bourse dividende* \
            dette* surendettement héritage épargne",
        law: "avocat* procès divorce* garde visa visas immigration asile expulsion* bail testament* responsabilité rgpd succession*",
    },
    TopicWords {
        language: "es",
        health: "síntoma* enfermedad* cáncer* tumor* diabetes medicamento* dosis vacuna* embaraz* depresión ansiedad cirugía* diagnóstic* \
            antibiótico* asma alergi* infecci* colesterol hipertensión ictus demencia adicci* suicid* ibuprofeno paracetamol insulina \
            quimioterapia médico* médica* hospital* migraña* epilep* menopausia anticoncepti*",
        finance: "hipoteca* préstamo* crédito* inversi* invertir seguro seguros impuesto* irpf pensión pensiones jubilación quiebra* \
            criptomoneda* bitcoin acciones dividendo* deuda* herencia* ahorro*",
        law: "abogad* demanda* divorcio* custodia visado* visa inmigración asilo deportación desahucio* testamento* responsabilidad rgpd despido*",
    },
    TopicWords {
        language: "it",
        health: "sintom* malatti* cancro tumor* diabete* farmac* dosaggio vaccin* gravidanza incinta depressione ansia chirurgi* diagnos* \
            antibiotic* asma allergi* infezion* colesterolo ipertensione ictus demenza dipendenz* suicid* ibuprofene paracetamolo insulina \
            chemioterapia medic* ospedal* emicrania epiless* menopausa contraccetti*",
        finance: "mutu* prestit* investi* assicurazion* tass* fiscal* pension* fallimento* criptovalut* bitcoin azioni dividend* debit* eredità risparmi*",
        law: "avvocat* causa divorzio* affidamento visto visti immigrazione asilo espulsione sfratto testament* responsabilità gdpr licenziament*",
    },
    TopicWords {
        language: "pt",
        health: "sintoma* doença* câncer cancro tumor* diabetes medicamento* remédio* dosagem vacina* gravid* grávida depressão ansiedade cirurgia* \
            diagnóstic* antibiótico* asma alergi* infecç* colesterol hipertensão avc demência vício* suicíd* ibuprofeno paracetamol insulina \
            quimioterapia médic* hospita* enxaqueca* epilep* menopausa anticoncep*",
        finance: "hipoteca* empréstimo* crédito* investi* seguro seguros imposto* irs irpf pensão aposentadoria reforma falência* criptomoeda* \
            bitcoin ações dividendo* dívida* herança* poupança",
        law: "advogad* processo divórcio* guarda visto vistos imigração asilo deportação despejo* testamento* responsabilidade rgpd lgpd",
    },
    TopicWords {
        language: "nl",
        health: "symptoom symptomen ziekte* kanker* tumor* diabetes medicijn* geneesmiddel* dosering* vaccin* zwanger* depressie* angststoornis* \
            operatie* diagnose* antibiotic* astma allergi* infectie* cholesterol bloeddruk beroerte* dementie verslaving* zelfmoord* ibuprofen \
            paracetamol insuline chemotherapie arts artsen huisarts* ziekenhuis* migraine* epilep* overgang anticonceptie*",
        finance: "hypothe* lening* krediet* belegg* verzekering* belasting* pensioen* faillissement* crypto* bitcoin aandelen dividend* schulden \
            erfenis* sparen spaarrekening*",
        law: "advoca* rechtszaak* scheiding* alimentatie voogdij visum* immigratie asiel* uitzetting* huurrecht testament* aansprakelijk* avg ontslag*",
    },
    TopicWords {
        language: "pl",
        health: "objaw* chorob* rak raka nowotw* cukrzyc* lek leki lekarst* dawkowani* szczepi* ciąż* depresj* operacj* diagnoz* antybiotyk* astma \
            alergi* infekcj* cholesterol* nadciśnieni* udar* demencj* uzależnieni* samobójst* ibuprofen paracetamol insulin* chemioterapi* \
            lekarz* szpital* migren* padaczk* menopauz* antykoncepc*",
        finance: "kredyt* hipote* pożyczk* inwest* ubezpieczeni* podatk* podatek emerytur* upadłoś* kryptowalut* bitcoin akcje dywidend* dług* \
            spadek oszczędnoś*",
        law: "adwokat* prawnik* pozew* rozwód rozwodu alimenty wiza wizy imigrac* azyl* deportac* eksmisj* testament* odpowiedzialność rodo",
    },
    TopicWords {
        language: "ja",
        health: "症状 病気 がん 癌 腫瘍 糖尿病 薬 ワクチン 妊娠 うつ病 手術 診断 治療 感染 高血圧 認知症 依存症 自殺 医師 病院 更年期 避妊",
        finance: "住宅ローン ローン 投資 保険 税金 確定申告 年金 破産 仮想通貨 暗号資産 株式 配当 借金 相続 貯蓄",
        law: "弁護士 訴訟 離婚 親権 ビザ 在留 亡命 強制退去 立ち退き 遺言 著作権 賠償",
    },
    TopicWords {
        language: "zh",
        health: "症状 疾病 癌症 肿瘤 糖尿病 药物 剂量 疫苗 怀孕 抑郁 手术 诊断 治疗 感染 高血压 痴呆 成瘾 自杀 医生 医院 避孕",
        finance: "贷款 房贷 投资 保险 税 养老金 破产 加密货币 比特币 股票 债务 遗产 储蓄",
        law: "律师 诉讼 离婚 抚养权 签证 移民 庇护 驱逐 遗嘱 版权 赔偿",
    },
];

/// Returns the sensitive topic that the words of a subject name, in a language by its code (BCP 47).
pub fn sensitive_topic(subject: &str, language: &str) -> Option<SensitiveTopic> {
    let folded = subject.to_lowercase();
    let primary = language.split('-').next().unwrap_or_default();
    let said: Vec<&str> = folded.split(|letter: char| !letter.is_alphanumeric()).collect();
    let names = |list: &str, is_spaced: bool| {
        list.split_whitespace()
            .any(|wanted| match wanted.strip_suffix('*') {
                Some(start) => said.iter().any(|word| word.starts_with(start)),
                None if is_spaced => said.contains(&wanted),
                None => folded.contains(wanted),
            })
    };
    let lists = WORDS
        .iter()
        .filter(|words| words.language == "en" || words.language == primary);
    lists
        .flat_map(|words| {
            let is_spaced = !matches!(words.language, "ja" | "zh");
            [
                (SensitiveTopic::Health, words.health),
                (SensitiveTopic::Finance, words.finance),
                (SensitiveTopic::Law, words.law),
            ]
            .map(|(topic, list)| (topic, list, is_spaced))
        })
        .find(|(_, list, is_spaced)| names(list, *is_spaced))
        .map(|(topic, ..)| topic)
}

#[cfg(test)]
mod tests {
    use super::{SensitiveTopic::*, *};

    #[test]
    fn words_of_the_subject_decide() {
        for (subject, language, topic) in [
            ("first symptoms of the flu", "en", Some(Health)),
            ("How to refinance a mortgage", "en-GB", Some(Finance)),
            ("tenancy law: who pays for repairs", "en", Some(Law)),
            ("standing desk height", "en", None),
            ("how to choose bike lights", "en", None),
            ("stock photos of oak shelves", "en", None),
            ("Bluthochdruck senken", "de", Some(Health)),
            ("Steuererklärung für Selbstständige", "de", Some(Finance)),
            ("Steuerung einer Wärmepumpe", "de", None),
            ("Mietrecht: Kündigung", "de", Some(Law)),
            ("assurance vélo", "fr", Some(Finance)),
            ("cómo pedir una hipoteca", "es", Some(Finance)),
            ("住宅ローンの選び方", "ja", Some(Finance)),
            ("本棚の作り方", "ja", None),
            ("怀孕初期", "zh-CN", Some(Health)),
            // English words count in every language
            ("ADHD bei Kindern", "de", Some(Health)),
            // words of another language do not
            ("krediet uit het magazijn", "en", None),
        ] {
            assert_eq!(sensitive_topic(subject, language), topic, "{subject}");
        }
    }
}
