// Deniable 0.1.0, deniable/survey-element.js: built from client/web/src, where it is readable.
function i(t,e={},...n){let s=document.createElement(t);for(let[o,r]of Object.entries(e))r==null||r===!1||s.setAttribute(o,r===!0?"":String(r));return s.append(...n.filter(o=>o!=null)),s}var w=(t,e,n={})=>i(t,{dir:"auto",...n},e);function g(t,e,n={}){let s=i("button",{type:"button",part:"button",...n},t);return e&&s.addEventListener("click",e),s}var ct="http://www.w3.org/2000/svg";function _(t,e,n,s={}){let o=(a,c)=>{let l=document.createElementNS(ct,a);for(let[u,h]of Object.entries(c))l.setAttribute(u,String(h));return l},r=o("svg",{viewBox:t,class:n,"aria-hidden":"true",...s});return r.append(...e.map(([a,c])=>o(a,c))),r}var ue=t=>_("0 0 100 6",[["rect",{class:"bar-rest",width:100,height:6}],["rect",{class:"bar-share",width:100*t,height:6}]],"bar",{preserveAspectRatio:"none"});var de=()=>crypto.getRandomValues(new Uint8Array(1))[0]%2===1,pe=t=>[i("p",{},t.say("how.coin")),i("p",{},t.say("how.cover")),lt(t),ut(t),i("p",{class:"hint"},t.say("how.here"))];function lt(t){let e=["yes","no"].map(u=>i("input",{type:"radio",name:"secret",value:u,autocomplete:"off"})),[n,s,o]=["face","face idle","face sent"].map(u=>i("span",{class:u},"?")),r=i("p",{role:"status",class:"result"},t.say("how.unflipped")),a=(u,h,d=!1)=>{u.textContent=h,u.classList.toggle("idle",d),u.classList.remove("thrown"),u.getBoundingClientRect(),d||u.classList.add("thrown")},c=u=>t.say(u?"how.heads":"how.tails"),l=()=>{let u=e.find(m=>m.checked)?.value;if(!u)return void(r.textContent=t.say("how.choose"));let h=de(),d=de(),p=t.say(h?u:d?"yes":"no");a(n,c(h)),a(s,h?"–":c(d),h),a(o,p),r.textContent=t.say(h?"how.truth":"how.chance",{sent:p})};return i("div",{class:"try"},i("fieldset",{},i("legend",{},t.say("how.tryCoin")),i("div",{class:"options short"},...e.map(u=>i("label",{class:"option"},u,i("span",{},t.say(u.value)))))),i("p",{},g(t.say("how.flip"),l)),i("div",{class:"faces","aria-hidden":"true"},n,he(),s,he(),o),r)}var he=()=>_("0 0 24 24",[["path",{d:"M4 12h14m-5-5 5 5-5 5"}]],"arrow");function ut(t){let[e,n]=[0,0],s=i("input",{type:"range",min:0,max:100,step:5,value:30,autocomplete:"off",id:"share"}),o=i("label",{for:"share"}),r=_("0 0 400 105",Array.from({length:100},(p,m)=>["path",{d:dt(m)}]),"people"),a=_("0 0 400 40",[["path",{class:"line",d:"M10 20h380"}],["path",{class:"truth",d:"M0 6v28"}],["circle",{class:"said",cy:20,r:7}],["circle",{class:"estimate",cy:20,r:7}]],"scale"),c=i("p",{role:"status",class:"result"}),l=()=>Number(s.value)/100,u=()=>{o.textContent=t.say("how.share",{count:t.number(Number(s.value))}),[...r.children].forEach((f,b)=>f.classList.toggle("yes",b<Number(s.value)));let p=e?n/e:null,m=e?2*(p-.25):null;[l(),p,m].forEach((f,b)=>ht(a.children[b+1],f)),c.textContent=e?t.say("how.result",{people:t.number(e),said:t.percent(p),estimate:t.percent(m),truth:t.percent(l())}):t.say("how.nobody")},h=()=>{[e,n]=[0,0],u()},d=()=>{for(let p of crypto.getRandomValues(new Uint32Array(1e3))){let m=(p>>>2)/1073741824<l();n+=p&1?Number(m):p>>1&1,e++}u()};return s.addEventListener("input",h),u(),i("div",{class:"try"},i("h3",{},t.say("how.crowd")),o,s,r,i("p",{class:"actions"},g(t.say("how.ask"),d)," ",g(t.say("how.again"),h,{class:"quiet"})),a,c,i("p",{class:"hint"},t.say("how.correction")))}function dt(t){let[e,n]=[t%25*16+8,Math.floor(t/25)*26+4];return`M${e} ${n}a3.5 3.5 0 1 1 0 7a3.5 3.5 0 1 1 0-7zM${e-5} ${n+20}v-5a5 5 0 0 1 10 0v5z`}function ht(t,e){t.classList.toggle("gone",e===null),e!==null&&t.setAttribute("transform",`translate(${10+380*Math.min(Math.max(e,0),1)} 0)`)}var Ht=10n**12n,z=t=>{let[e,n=""]=t.split(".");return BigInt(e+n.padEnd(12,"0"))},pt=t=>`${t}`.padStart(13,"0").replace(/(.{12})$/,".$1").replace(/\.?0+$/,""),ft=t=>t.reduce((e,n)=>e+z(n),0n),R=t=>pt(ft(t));var O=class t{constructor(e="0",n="0"){Object.freeze(Object.assign(this,{epsilon:e,delta:n}))}plus({epsilon:e,delta:n}){return new t(R([this.epsilon,e]),R([this.delta,n]))}within({epsilon:e,delta:n}){return z(this.epsilon)<=z(e)&&z(this.delta)<=z(n)}power(e=.05){let n=Math.exp(this.epsilon),s=Number(this.delta);return Math.min(1,Math.min(e*n+s,1-(1-e-s)/n)*(1+1e-10))}},Yt=new O("10","0.000001");var fe=(t,e)=>{let n=1;for(let s=1;s<=e;s++)n=n*(t-e+s)/s;return n},mt=(t,e)=>Math.floor(t/2**e)%2===1;function D(t,e,n){if(t.kind==="drawn"){let a=Math.floor(n/2);return D(t.parts[a],e[a],n%2)/t.parts.length}if(t.kind==="table")return t.weights[e][n]/9007199254740992;let s=t.favour/9007199254740992;if(t.kind==="subset"){let{options:a,size:c}=t;return mt(n,e)?s/fe(a-1,c-1):(1-s)/fe(a-1,c)}let{levels:o,width:r}=t;return e<=n&&n<e+r?s/r:(1-s)/(o-1)}var me=t=>t.options??t.levels??t.weights.length;function F({items:t,channel:e}){return t.length>1?e.size===1?"combination":"combinations":e.kind==="band"&&e.width===1?t[0].question.type==="number"?"point":e.levels===2?"bit":"single":e.kind==="subset"?e.size===1?"single":"set":{band:"range",drawn:"drawn",table:"table"}[e.kind]}var A=({items:t})=>t.length>1?null:t[0].question.delta??null,B=t=>t.items[0].question.type==="number"&&["point","range","table"].includes(F(t)),be=["opposite","other","outside","elsewhere","far"];function V(t){let{channel:e}=t,n=F(t),s=(e.kind==="drawn"?e.parts[0].favour:e.favour)/9007199254740992,o={form:n,odds:ge(e),excess:bt(t)};if(n==="bit")return{...o,chances:[["same",s],["opposite",1-s]]};if(["single","set","combination","combinations"].includes(n)){let[u,h]=e.kind==="band"?[e.levels,1]:[e.options,e.size],d=(s*(h-1)+(1-s)*h)/(u-1);return{...o,count:u,size:h,others:u-1,miss:1-s,chances:[["yours",s],["other",d]]}}if(n==="range"||n==="point"){let{levels:u,width:h}=e;return{...o,levels:u,width:h,miss:1-s,chances:[[n==="range"?"inside":"rounded",s],[n==="range"?"outside":"elsewhere",1-s]]}}if(n==="drawn"){let u=Math.max(...e.parts.map(d=>d.favour))/9007199254740992,h=e.parts.length;return{...o,count:h,chances:[["drawn",1/h],["same",u],["opposite",1-u]]}}let{weights:r}=e,a=r[0].map((u,h)=>ye(e,h)),c=(u,h)=>u.reduce((d,p,m)=>h.some(f=>a[m].includes(f))?d+p:d,0)/9007199254740992,l=Math.max(...r.flatMap((u,h)=>(B(t)?[[h-1,h],[h,h+1]]:[[h]]).map(d=>c(u,d))));return{...o,levels:r.length,reports:r[0].length,chances:[["near",l],["far",1-l]]}}function ge(t){if(t.kind==="drawn")return Math.max(...t.parts.map(ge));if(t.kind==="table")return Math.max(...t.weights[0].map((s,o)=>{let r=t.weights.map(a=>a[o]);return Math.max(...r)/Math.min(...r)}));let[e,n]=t.kind==="subset"?[t.options-t.size,t.size]:[t.levels-1,t.width];return t.favour*e/((9007199254740992-t.favour)*n)}var we=({epsilon:t},e)=>e>Math.exp(Number(t))*(1+1e-9);function bt(t){let{channel:e}=t;if(!A(t))return 0;let n=e.weights[0].map((s,o)=>{let r=e.weights.map(a=>a[o]);return we(t,Math.max(...r)/Math.min(...r))});return Math.max(...e.weights.map(s=>s.reduce((o,r,a)=>n[a]?o+r:o,0)))/9007199254740992}function ye(t,e){let n=Array.from({length:me(t)},(o,r)=>D(t,r,e)),s=Math.max(...n);return n.flatMap((o,r)=>o===s?[r]:[])}function C(t,e){let{channel:n}=t,s=F(t);if(s==="drawn"){let c=Math.floor(e/2),l=n.parts[c].favour/9007199254740992;return{form:s,option:c,bit:e%2,count:n.parts.length,high:l,low:1-l,odds:l/(1-l),rare:!1}}let o=Array.from({length:me(n)},(c,l)=>D(n,l,e)),[r,a]=[Math.max(...o),Math.min(...o)];return{form:s,points:ye(n,e),reports:n.weights?.[0].length,high:r,low:a,odds:r/a,rare:!!A(t)&&we(t,r/a)}}function P({min:t,max:e},n){let s=Math.min(12,Math.max(0,3-Math.floor(Math.log10(e-t)))),o=a=>Number(a.toFixed(s)),r=a=>o(t+(e-t)*a/(n-1));return Array.from({length:n},(a,c)=>c===n-1?e:c?r(c):t)}function ve({min:t,max:e,bins:n}){return[t,...n.filter(s=>t<s&&s<e),e]}var $=t=>Math.ceil(t*(1-1e-12)*100)/100;function N(t){if(t===0)return 0;let e=Math.min(12,1-Math.floor(Math.log10(t)));return Math.ceil(t*10**e*(1-1e-12))/10**e}function H({most:t=[],least:e=[]}){let n=Math.min(...[...t,...e].flatMap(o=>[o,1-o]).filter(o=>o>1e-15)),s=[100,1e3,1e4,1e5,1e6].find(o=>n*o>=5);return s===void 0?null:{total:s,most:t.map(o=>Math.ceil(o*s*(1-1e-12))),least:e.map(o=>Math.floor(o*s*(1+1e-12)))}}var xe={en:()=>import("./texts/en.js"),es:()=>import("./texts/es.js"),fr:()=>import("./texts/fr.js"),de:()=>import("./texts/de.js"),ar:()=>import("./texts/ar.js")},gt=Object.keys(xe),wt=["ar","dv","fa","he","ks","ku","ps","sd","ug","ur","yi"],ze=t=>t.toLowerCase().split("-")[0],M=t=>wt.includes(ze(t))?"rtl":"ltr";async function Q(t,e){let n=gt.find(o=>o===ze(t))??"en",{default:s}=await xe[n]();return new G(s,e,t,n)}var ke=t=>typeof t=="object"&&t!==null;function Se(t,e){return Object.fromEntries(Object.entries(t).map(([n,s])=>{let o=ke(e)&&Object.hasOwn(e,n)?e[n]:void 0;return ke(s)?[n,Se(s,o)]:[n,typeof o=="string"||typeof o=="function"?o:s]}))}var yt=/[\u202a-\u202e\u2066-\u2069]/g,v=t=>`⁨${t.replace(yt,"")}⁩`;function _e(t,e){if(typeof t=="string")return t.replace(/\{(\w+)\}/g,(n,s)=>Object.hasOwn(e,s)?e[s]:n);try{let n=t(e);return typeof n=="string"?n:void 0}catch{return}}var G=class{#t;#l;#n;#e;constructor(e,n,s,o=s){this.#t=e,this.#l=Se(e,n),this.#n=vt(s),this.#e=this.#i({maximumFractionDigits:12}),this.language=o}#i(e){return new Intl.NumberFormat(this.#n,e)}say(e,n={}){let s=o=>e.split(".").reduce((r,a)=>r?.[a],o);return _e(s(this.#l),n)??_e(s(this.#t),n)}has(e){return this.say(e)!==void 0}time(e){return e.toLocaleString(this.#n,{dateStyle:"full",timeStyle:"short"})}number(e){return this.#e.format(e)}percent(e){return this.#i({style:"percent",minimumFractionDigits:1,maximumFractionDigits:1}).format(e)}minutes(e){return this.#i({style:"unit",unit:"minute",unitDisplay:"long"}).format(e)}either(e){return new Intl.ListFormat(this.#n,{type:"disjunction"}).format(e)}all(e){return new Intl.ListFormat(this.#n,{type:"conjunction"}).format(e)}};function vt(t){try{return t?Intl.getCanonicalLocales(t)[0]:void 0}catch{return}}var Ie="declined";function Y(t,e,n){let s=t.number(n);return e.unit?t.say("amount",{number:s,unit:v(e.unit)}):s}var X=(t,e)=>t.say("quote",{text:v(e)});function Oe({question:t,option:e,codes:n},s,o){if(e){let{text:a}=t.options.find(({code:c})=>c===e);return n.map(c=>o(s.say(c==="yes"?"optionYes":"optionNo",{option:a})))}let r;if(t.type==="yes_no")r=n.filter(a=>a!==Ie).map(a=>o(s.say(a)));else if(t.type==="scale")r=t.labels.map(a=>o(a));else if(t.type==="number"){let a=ve(t);r=a.slice(1).map((c,l)=>{let u=l===a.length-2;return s.say(u?"range":"bin",{low:s.number(a[l]),high:Y(s,t,c)})})}else r=t.options.map(({text:a})=>o(a));return t.decline?[...r,o(s.say("declined"))]:r}function I({items:t,paths:e,channel:n},s,o=r=>X(s,r)){let[{question:r}]=t;if(t.length>1){let a=t.map(l=>Oe(l,s,v)),c=l=>l.flatMap((u,h)=>u===null?[]:[a[h][u]]);return e.map(l=>c(l).join(" · "))}return r.type==="number"&&!r.bins?P(r,n.levels??n.weights.length).map(c=>Y(s,r,c)):Oe(t[0],s,o)}function Ee(t,e,n,s){let[o,r]=[n[0],n.at(-1)];return{low:t.type==="number"?s.number(P(t,e.length)[o]):e[o],high:e[r]}}function J(t,e,n,s){return n[0]===n.at(-1)?e[n[0]]:s.say("range",Ee(t,e,n,s))}var K=({labels:t})=>t.some(e=>/^\p{Nd}/u.test(e));function Ae(t,e,n){if(e===Ie&&t.decline)return n.say("declined");let s=o=>t.options.find(({code:r})=>r===o).text;switch(t.type){case"yes_no":return n.say(e?"yes":"no");case"choice":return s(e);case"multi_choice":return e.length?e.map(o=>v(s(o))).join(", "):n.say("none");case"scale":return K(t)?t.labels[e-1]:n.say("point",{point:n.number(e),label:v(t.labels[e-1])});default:return Y(n,t,e)}}function Ce(t,e,n){let s=H(n?{least:[e]}:{most:[e]});if(!s)return null;let[o]=n?s.least:s.most;return{count:t.number(o),total:t.number(s.total)}}var kt={set:"InSet",combination:"Combination",combinations:"CombinationInSet"},_t={bit:"opposite",drawn:"opposite",range:"outside",table:"far"};function Ne(t,e){let[{question:n}]=t.items,{form:s,chances:o,odds:r,excess:a,miss:c,count:l,...u}=V(t),h=je(t),d=Object.fromEntries(Object.entries(u).map(([b,y])=>[b,e.number(y)]));l&&(d.options=e.number(l));let p=Ce(e,Object.fromEntries(o)[_t[s]]??c,!0),m=o.map(([b,y])=>({name:e.say(`chance.${b}${kt[s]??""}`),chance:y,cases:xt(b,y,d,e)})),f=[e.say(`protection.${s}`,d)];if(B(t)){let b=I(t,e),y=J(n,b,[0,b.length-1],e);f.push(e.say("protection.rounding",{levels:d.levels,points:y}))}return{line:p?e.say(`line.${s}`,{...d,...p}):e.say("line.seldom"),warning:Te(t,e),details:f,chances:m,bounds:[zt(r,a,h,e),e.say("protection.experts",{symbols:S(h)})]}}function xt(t,e,{options:n},s){if(t==="drawn")return s.say("chance.exactly",{count:s.number(1),total:n});let o=be.includes(t),r=Ce(s,e,o);return r?s.say(o?"chance.atLeast":"chance.atMost",r):s.say(o?"chance.atLeast":"chance.rare",{chance:s.number(N(e)),count:s.number(Math.floor(e*1e12)),total:s.number(1e12)})}function zt(t,e,{epsilon:n,delta:s},o){if(!Number(s))return o.say("protection.odds",{odds:o.number($(t))});let r=o.number(N(e));return o.say("protection.oddsDelta",{odds:o.number($(Math.exp(n))),chance:r})}var je=t=>new O(t.epsilon,A(t)??"0"),S=({epsilon:t,delta:e})=>`ε = ${Number(t)}${Number(e)?`, δ = ${e}`:""}`,St=50,Le=t=>Math.ceil(t.power()*1e3)/10;function k(t){let e=Le(t);return e>=100?"hardly":e>St?"weak":"fair"}function Te(t,e){return k(je(t))==="fair"?null:e.say(t.items.length>1?"line.weakTogether":"line.weak")}function E(t,e){let n=k(t),s=[e.say("meaning.suppose")];return n==="hardly"?s.push(e.say("meaning.hardly")):s.push(e.say("meaning.found",{percent:e.number(Le(t))})),n==="weak"&&s.push(e.say("meaning.weak")),Number(t.delta)&&s.push(Ot(t,e)),s.join(" ")}function Ot({delta:t},e){let s=Math.round(t*1e12),o=10;for(;s*o<1e12;)o*=10;s*o%1e12&&(o*=10);let r=e.number(Math.ceil(s*o/1e12));return e.say("meaning.delta",{delta:t,count:r,total:e.number(o)})}var $e=({items:t})=>new Set(t.map(({question:e})=>e.id));function j(t,e){let[n,s]=$e(t);return s||e.filter(o=>$e(o).has(n)).length>1?null:n}var Me=t=>t.reduce((e,{type:n,options:s})=>e+(n==="multi_choice"?s.length:1),0),$t=20;function qe({survey:t,questions:e},n){let[s,o]=[e.length,t.questions.length],r=s+(t.segments?.length??0),a=n.minutes(Math.max(1,Math.ceil(r*$t/60))),c=Z({survey:t,questions:e})?s===o?"options":"picked":"all";return n.say(`start.${c}`,{picked:n.number(s),total:n.number(o),minutes:a})}var Z=({survey:t,questions:e})=>Me(e)!==Me(t.questions),ee=({survey:{segments:t=[]}},e)=>e.all(t.map(({text:n})=>X(e,n)));function We({parts:t,account:e},n){let s=[E(e,n),n.say("protection.experts",{symbols:S(e)})];return t.length>1?[...s,n.say("meaning.each")]:s}function te(t,e,n){if(t.items.length===1)return null;let s=I(t,n);return C(t,e).points.map(o=>s[o])}function ne(t,e,n){let[{question:s}]=t.items,o=te(t,e,n);if(o)return o.join("; ");let{form:r,points:a,option:c,bit:l,reports:u}=C(t,e);if(r==="drawn")return n.say(l?"report.drawnYes":"report.drawnNo",{option:X(n,s.options[c].text)});if(r==="bit"||r==="single")return I(t,n,d=>d)[a[0]];let h=I(t,n);if(r==="set")return n.say("report.oneOf",{answers:n.either(a.map(d=>h[d]))});if(r==="table"){let d=J(s,h,a,n);return n.say("report.table",{number:n.number(e+1),reports:n.number(u),answer:d})}return a.length===1?n.say("report.near",{answer:h[a[0]]}):n.say("report.between",Ee(s,h,a,n))}function Ue(t,e,n){let{form:s,points:o,bit:r,odds:a,rare:c,...l}=C(t,e),u=H({most:[l.high],least:[l.low]}),h=[];if(u&&l.low>0){let[d,p,m]=[u.most[0],u.least[0],u.total].map(b=>n.number(b)),f={high:d,low:p,total:m};if(s==="drawn")h.push(n.say(r?"why.drawnYes":"why.drawnNo",f));else if(t.items.length>1)h.push(n.say(`why.${s}`,f));else{let b=I(t,n),y=["point","range","table"].includes(s);f.answer=y?J(t.items[0].question,b,o,n):n.either(o.map(x=>b[x])),f.other=b[1-o[0]],h.push(n.say(s==="bit"?"why.bit":"why.others",f))}}if(c){let{excess:d}=V(t),p={odds:n.number($(a)),chance:n.number(N(d))};h.push(n.say(l.low>0?"why.rare":"why.never",p))}else h.push(n.say("why.odds",{odds:n.number($(a))}));return[Te(t,n),...h].filter(Boolean).join(" ")}var Re=12,Mt=t=>t.length<=5&&t.every(e=>e.split(/\s/).every(n=>n.length<=12));function De(t,e,n){let s=t.options.map(({code:r,text:a})=>({value:r,label:w("span",a)})),o=i("strong",{},e.say("section.segmentNote"));return Be(t,s,{texts:e,onChange:n,hint:o,missing:"error.chooseSegment"})}function Fe(t,e,n,s){let o=e?ie(e,n):null,r=t.decline?[{value:"declined",label:i("span",{},n.say("declined"))}]:[],a=(l,u)=>Be(t,[...l,...r],{texts:n,onChange:s,after:o,layout:u,missing:t.decline?"error.chooseOrDecline":"error.choose"}),c=()=>t.options.map(({code:l,text:u})=>({value:l,label:w("span",u)}));switch(t.type){case"yes_no":return a([!0,!1].map(l=>({value:l,label:i("span",{},n.say(l?"yes":"no"))})),"short");case"choice":return a(c());case"scale":return a(t.labels.map((l,u)=>({value:u+1,label:i("span",{},K(t)?null:i("b",{class:"point"},n.number(u+1)," "),w("span",l))})),Mt(t.labels)?"scale":void 0);case"multi_choice":return It(t,c(),{texts:n,onChange:s,after:o});default:return Et(t,{texts:n,onChange:s,after:o})}}function se({id:t,text:e},{role:n,hint:s,controls:o,after:r,parts:a}){let c=[s&&`${t}-hint`,`${t}-error`].filter(Boolean).join(" "),l=i("p",{id:`${t}-error`,class:"error",hidden:!0});return{node:i("fieldset",{id:`${t}-field`,class:"question",part:"question",role:n,"aria-describedby":c,...a},i("legend",{},w("h3",e,{tabindex:"-1"})),s?i("p",{id:`${t}-hint`,class:"hint"},s):null,l,o,r),error:l}}function oe(t,e,n,s){return o=>{e.hidden=!o,e.textContent=o?s.say(...o):"",t.classList.toggle("wrong",!!o);for(let r of n)o?r.setAttribute("aria-invalid","true"):r.removeAttribute("aria-invalid")}}function L(t,e){return i("label",{class:"option",part:"option"},t,e)}function Be(t,e,{texts:n,onChange:s,hint:o,after:r,layout:a,missing:c}){let l=e.map(()=>i("input",{type:"radio",name:`answer-${t.id}`,autocomplete:"off"})),u=e.length>Re?"many":a,h=i("div",{class:`options ${u??""}`.trim()},...e.map(({label:b},y)=>L(l[y],b))),{node:d,error:p}=se(t,{role:"radiogroup",hint:o,controls:h,after:r,parts:{"aria-required":"true"}}),m=oe(d,p,[d],n),f=()=>l.findIndex(b=>b.checked);return d.addEventListener("change",()=>{m(null),s()}),{id:t.id,node:d,read:()=>f()<0?{problem:[c]}:{value:e[f()].value},answered:()=>f()>=0,clear:()=>l.forEach(b=>b.checked=!1),focus:()=>l[Math.max(f(),0)].focus(),complain:m}}function It(t,e,{texts:n,onChange:s,after:o}){let r=e.map(()=>i("input",{type:"checkbox",autocomplete:"off"})),a=i("input",{type:"checkbox",autocomplete:"off"}),c=i("div",{class:e.length>Re?"options many":"options"},...e.map(({label:p},m)=>L(r[m],p)),L(a,i("span",{},n.say("none")))),{node:l,error:u}=se(t,{hint:n.say("hint.multiChoice"),controls:c,after:o}),h=oe(l,u,[...r,a],n);l.addEventListener("change",p=>{p.target===a?r.forEach(m=>m.checked=!1):a.checked=!1,h(null),s()});let d=()=>a.checked||r.some(p=>p.checked);return{id:t.id,node:l,read:()=>d()?{value:e.filter((p,m)=>r[m].checked).map(({value:p})=>p)}:{problem:["error.chooseSome"]},answered:d,clear:()=>[...r,a].forEach(p=>p.checked=!1),focus:()=>r[0].focus(),complain:h}}function Et(t,{texts:e,onChange:n,after:s}){let{id:o,min:r,max:a,unit:c,decline:l}=t,u={low:e.number(r),high:e.number(a),unit:c&&v(c)},h=i("input",{id:`${o}-number`,type:"text",inputmode:r<0?"text":"decimal",autocomplete:"off",spellcheck:"false","aria-required":l?null:"true","aria-describedby":`${o}-error`}),d=l?i("input",{type:"checkbox",autocomplete:"off"}):null,p=i("div",{class:"number"},i("label",{for:`${o}-number`},e.say(c?"hint.numberUnit":"hint.number",u)),i("div",{class:"entry"},h,c?w("span",c,{"aria-hidden":"true",class:"unit"}):null),d?i("div",{class:"options"},L(d,i("span",{},e.say("declined")))):null),{node:m,error:f}=se(t,{controls:p,after:s}),b=oe(m,f,[h],e);h.addEventListener("input",()=>{d&&(d.checked=!1),b(null),n()}),d?.addEventListener("change",()=>{h.value="",b(null),n()});let y=()=>{if(d?.checked)return{value:"declined"};if(!h.value.trim())return{problem:[l?"error.numberOrDecline":"error.numberMissing"]};let x=At(h.value),[ce,at]=x.filter(le=>r<=le&&le<=a);return!x.length||at!==void 0?{problem:["error.notNumber"]}:ce===void 0?{problem:["error.outside",u]}:{value:ce}};return{id:o,node:m,read:y,answered:()=>"value"in y(),clear:()=>{h.value="",d&&(d.checked=!1)},focus:()=>h.focus(),complain:b}}function At(t){let e=t.trim().replace(/[\u0660-\u0669\u06f0-\u06f9]/g,s=>String(s.charCodeAt(0)&15)).replace(/\u2212/g,"-").replace(/\u066b/g,",").replace(/(?<=\d)[\s'\u2019](?=\d{3}(?!\d))/g,""),n=[];return/^[+-]?(\d+([.,]\d*)?|[.,]\d+)$/.test(e)&&n.push(Number(e.replace(",","."))),/^[+-]?[1-9]\d{0,2}([.,])\d{3}(\1\d{3})*$/.test(e)&&n.push(Number(e.replace(/[.,]/g,""))),n}function ie(t,e,n=null){let{line:s,warning:o,details:r,chances:a,bounds:c}=Ne(t,e),l=a.map(({name:u,chance:h,cases:d})=>i("tr",{},i("th",{scope:"row"},u),i("td",{class:"picture"},ue(h)),i("td",{class:"figure"},d)));return i("div",{class:"protection",part:"protection"},n,o?i("p",{class:"weak"},o):null,i("p",{},s),i("details",{},i("summary",{},e.say("protection.title")),...r.map(u=>i("p",{},u)),i("p",{},e.say("protection.always")),i("table",{class:"chances"},i("tbody",{},...l)),...c.map(u=>i("p",{},u))))}function Ve({client:t,questions:e,values:n,texts:s,onChange:o}){let{survey:r,account:a}=t,c=({id:d,text:p},m,f)=>{let b=s.say("button.changeWhat",{question:p}),y=g(s.say("button.change"),()=>o(d),{class:"link","aria-label":b}),x=[w("h3",p),w("p",m,{class:"answer"}),f];return i("li",{},i("div",{},...x.filter(Boolean)),y)},l=d=>c(d,d.options.find(({code:p})=>p===n[d.id]).text,i("p",{class:"hint weak"},s.say("section.segmentNote"))),u=k(a),h=["id",Z(t)&&"booklet"].filter(Boolean);return[i("p",{class:"hint"},s.say("section.reviewHint")),u==="fair"?null:i("p",{class:"weak"},s.say(`start.${u}`)),i("ul",{class:"answers"},...e.map(d=>c(d,Ae(d,n[d.id],s))),...(r.segments??[]).map(l)),i("details",{},i("summary",{},s.say("section.openly")),i("ul",{},...h.map(d=>i("li",{},s.say(`openly.${d}`)))),re(t,s)),t.persistent?null:i("p",{class:"note"},s.say("status.forgetful"))]}function Pe({parts:t},e){let n=t.filter(s=>j(s,t)===null);return n.map(s=>{let o=new Map(s.items.map(({question:a})=>[a.id,a.text])),r=n.length>1?i("ul",{},...[...o.values()].map(a=>w("li",a))):null;return{ids:new Set(o.keys()),node:ie(s,e,r)}})}function re(t,e){let n=We(t,e).map(s=>i("p",{},s));return i("section",{class:"total"},i("h3",{},e.say("section.total")),...n)}var T=class{#t;#l;#n;#e;#i;#m=null;#r=[];#s=i("progress",{max:1,value:0,"aria-labelledby":"progress-text"});#a=i("span",{id:"progress-text"});#b=i("p",{class:"unseen",role:"status"});#d=i("div",{class:"summary",part:"summary",role:"alert"});#u;#h;#c;constructor({client:e,shownQuestions:n,texts:s,onePage:o,onNext:r,onBack:a}){this.#t=e,this.#l=n,this.#n=s;let{survey:c,questions:l,parts:u}=e,h=()=>this.#_(),d=l.map(f=>{let b=u.find(y=>j(y,u)===f.id);return Fe(f,b,s,h)}),p=(c.segments??[]).map(f=>De(f,s,h));this.#e=[...d,...p],this.#i=o?[this.#e]:[...this.#z(d),...p.length?[p]:[]],this.#u=p.length?i("h2",{class:"openly"},s.say("section.segments")):null,this.#h=Pe(e,s),this.#c=i("button",{type:"submit",part:"button"}),this.progress=i("div",{class:"progress",part:"progress"},this.#s,this.#a);let m=g(s.say("button.back"),a,{class:"quiet"});this.node=i("form",{method:"dialog",autocomplete:"off",novalidate:!0},this.#d,...d.map(({node:f})=>f),...this.#h.map(({node:f})=>f),o?re(e,s):null,this.#u,...p.map(({node:f})=>f),this.#b,i("p",{class:"actions"},this.#c," ",m)),this.node.addEventListener("submit",f=>{f.preventDefault(),this.#p(this.#w())&&r()}),this.show(0)}#z(e){let n=[],s={};return this.#t.questions.forEach(({id:o,show_if:r},a)=>{let c=r&&Object.keys(r)[0],l=s[c]??n.push([])-1;s[o]=l,n[l].push(e[a])}),n}get length(){return this.#i.length}clear(){for(let e of this.#e)e.clear()}get begun(){return this.#e.some(e=>e.answered())}show(e,n=!1){this.#m=e,this.#d.replaceChildren(),this.#_(),this.#b.textContent="";let s=n||e===this.#i.length-1;this.#c.textContent=this.#n.say(s?"button.review":"button.next")}stepOf(e){return this.#i.findIndex(n=>n.some(s=>s.id===e))}firstMissing(){return this.#i.findIndex(e=>e.some(n=>this.#k(n)&&!n.answered()))}focus(e=this.#w()[0].id){this.#e.find(n=>n.id===e).focus()}focusQuestion(){this.#w()[0].node.querySelector("h3").focus()}values(){return Object.fromEntries(this.#e.filter(this.#k,this).map(e=>[e.id,e.read().value]))}#v=new Set;#k({id:e}){return this.#v.has(e)}#w(){return this.#i[this.#m].filter(this.#k,this)}#_(){this.#f();let e=this.#w();for(let s of this.#e)s.node.hidden=!e.includes(s);if(this.#u){let s=(this.#t.survey.segments??[]).map(({id:o})=>o);this.#u.hidden=!e.some(({id:o})=>s.includes(o))}for(let{ids:s,node:o}of this.#h)o.hidden=!e.some(({id:r})=>s.has(r));this.#o(e);let n=([s])=>s.answered()||s.node.hidden;for(let s of this.#r)n(s)&&s[1].remove();this.#r.every(n)&&this.#d.replaceChildren()}#o(e){let n=this.#i.length===1,[s,o]=n?[e.filter(a=>a.answered()).length,e.length]:[this.#m+1,this.#i.length];this.#s.value=s/o;let r={done:this.#n.number(s),total:this.#n.number(o)};this.#a.textContent=this.#n.say(n?"answered":"progress",r)}#f(){let{questions:e,survey:n}=this.#t,s=this.#e.map(c=>[c.id,c.read()]).filter(([,c])=>"value"in c),o=Object.fromEntries(s.map(([c,{value:l}])=>[c,l])),r=new Set(this.#l(e,o)),a=e.flatMap(c=>{let l=!r.has(c);if(this.#v.has(c.id)!==l)return[];if(l){let h=this.#e.find(({id:d})=>d===c.id);h.clear(),h.complain(null)}let u=l?"followUp.hidden":"followUp.shown";return[this.#n.say(u,{question:v(c.text)})]});this.#v=new Set([...r,...n.segments??[]].map(({id:c})=>c)),a.length&&(this.#b.textContent=a.join(" "))}#p(e){let n=e.map(o=>[o,o.read()]),s=n.filter(([,{problem:o}])=>o);for(let[o,{problem:r}]of n)o.complain(r??null);return this.#d.replaceChildren(),s.length?(this.#i.length===1&&this.#g(s),s[0][0].focus(),!1):!0}#g(e){let{survey:n}=this.#t,s=Object.fromEntries([...n.segments??[],...n.questions].map(({id:o,text:r})=>[o,r]));this.#r=e.map(([o])=>{let r=g(s[o.id],()=>o.focus(),{class:"link",dir:"auto"});return[o,i("li",{},r)]}),this.#d.append(i("h2",{},this.#n.say("error.summary")),i("p",{},this.#n.say("error.why")),i("ul",{},...this.#r.map(([,o])=>o)))}};function He({texts:t,heading:e,problem:n,typed:s,onCode:o}){let r=l=>t.say(`invitation.${l}`),a=i("input",{id:"invitation",type:"text",dir:"ltr",autocomplete:"off",autocapitalize:"characters",spellcheck:"false",required:!0,"aria-required":"true","aria-invalid":n?"true":null,"aria-describedby":"invitation-error invitation-hint"});a.value=s??"";let c=i("form",{class:"invitation-form",novalidate:!0,autocomplete:"off"},i("label",{for:"invitation"},r("label")),i("p",{id:"invitation-error",class:"error",role:n?"alert":null},n?r(n):null),i("div",{class:"entry"},a),i("p",{id:"invitation-hint",class:"hint"},r("hint")),i("p",{class:"actions wide"},g(r("go"),null,{type:"submit"})));return c.addEventListener("submit",l=>{l.preventDefault(),o(a.value)}),[e,i("p",{},r("text")),c,i("ul",{class:"reasons"},...Ge(t))]}var Ge=t=>["only","blind"].map(e=>i("li",{},t.say(`invitation.${e}`))),Qe=(t,e)=>i("details",{},i("summary",{},e.say("invitation.why")),i("ul",{class:"reasons"},...Ge(e),i("li",{},e.say("invitation.key")," ",i("code",{dir:"ltr"},t))));function Ye({client:t,texts:e,host:n,language:s,heading:o,actions:r}){let{survey:a,account:c,offline:l,fingerprint:u}=t,h=k(c);return[Ct(a,n.getAttribute("logo")),o,i("p",{class:"hint"},qe(t,e)),a.notice?w("p",a.notice,{class:"notice"}):null,i("div",{class:h==="fair"?"promise":"promise weak-promise"},h==="fair"?Lt(e):null,i("p",{},e.say(`start.${h}`)),a.segments?.length?i("p",{class:"hint"},e.say("start.openly",{questions:ee(t,e)})):null),u?Qe(u,e):null,l?i("p",{class:"note"},e.say("offline")):null,n.hasAttribute("kiosk")?i("p",{class:"note"},e.say("kiosk.note")):null,i("p",{class:"actions wide"},g(e.say("start.go"),r.start)),i("p",{class:"more"},g(e.say("start.how"),r.how,{class:"link"})," ",g(e.say("start.who"),r.who,{class:"link"})),Nt(t.languages,s,e,r.speak)]}function Ct({asked_by:t,contact:e},n){if(!t&&!e&&!n)return null;let s=i("span",{},t?w("b",t):null,t&&e?" · ":null);return e&&s.append(w("span",e)),i("p",{class:"who-asks"},n?i("img",{src:n,alt:""}):null,s)}function Nt(t,e,n,s){if(t.length<2)return null;let o=i("select",{"aria-label":n.say("start.language"),autocomplete:"off"},...t.map(r=>i("option",{value:r,lang:r,dir:M(r),selected:r===e},jt(r))));return o.addEventListener("change",()=>s(o.value)),i("p",{class:"languages"},o)}function jt(t){try{let e=new Intl.DisplayNames([t],{type:"language"}).of(t);return e.charAt(0).toLocaleUpperCase(t)+e.slice(1)}catch{return t}}var Lt=t=>i("div",{class:"coin-picture","aria-hidden":"true"},...["answer","coin","sent"].flatMap((e,n)=>[n?_("0 0 24 24",[["path",{d:"M4 12h14m-5-5 5 5-5 5"}]],"arrow"):null,i("span",{class:e},t.say(`start.${e}`))]));function Xe({client:t,texts:e,pinned:n}){let{survey:s,account:o,digest:r}=t,a=k(o);return[i("table",{class:"who",role:"table"},i("tbody",{role:"rowgroup"},...[["team",a],["thief",a],["network","networkSees"],["device","deviceSees"],["website","websiteSees"]].map(([l,u])=>i("tr",{role:"row"},i("th",{role:"rowheader",scope:"row"},e.say(`who.${l}`)),i("td",{role:"cell"},e.say(`who.${u}`)))))),s.segments?.length?i("p",{class:"weak"},e.say("who.openly",{questions:ee(t,e)})):null,i("p",{},E(o,e)),i("p",{class:"hint"},e.say("who.checked",{symbols:S(o)})),i("p",{class:"hint"},e.say("who.kept")),i("details",{},i("summary",{},e.say("who.cheat")),i("p",{},e.say("who.cheatText")),i("p",{},e.say("who.digest")),i("p",{},i("code",{class:"digest",dir:"ltr"},r)),i("p",{},e.say(n?"who.pinned":"who.unpinned")))]}function Je(){let[t,e]=location.href.split(/(?<=#[0-9a-f]{64})(?=\.)/i);e&&history.replaceState(history.state,"",t)}var q=class{#t=`${crypto.getRandomValues(new Uint32Array(1))[0]}`;#l;#n=new AbortController;constructor(e){this.#l=e,addEventListener("popstate",()=>e(this.current),{signal:this.#n.signal})}stop(){this.#n.abort()}get current(){return history.state?.deniable?.[this.#t]??{screen:"start",depth:0}}open(e,n=!1){let s={screen:e,change:n,depth:this.current.depth+1},o={...history.state?.deniable,[this.#t]:s};history.pushState({...history.state,deniable:o},""),this.#l(s)}back(){history.back()}end(){this.stop();let{depth:e}=this.current;e&&history.go(-e)}};var Tt=`
:host {
  --_ink: var(--deniable-ink, #1b1f24);
  --_muted: var(--deniable-muted, #57606a);
  --_paper: var(--deniable-paper, #ffffff);
  --_wash: var(--deniable-wash, #f6f7f9);
  --_line: var(--deniable-line, #8c959f);
  --_rule: var(--deniable-rule, #d0d7de);
  --_accent: var(--deniable-accent, #0b5f6b);
  --_on-accent: var(--deniable-on-accent, #ffffff);
  --_accent-soft: var(--deniable-accent-soft, #d6ecee);
  --_accent-wash: var(--deniable-accent-wash, #eef5f5);
  --_warn: var(--deniable-warn, #8a4b00);
  --_bad: var(--deniable-bad, #a40e26);
  --_radius: var(--deniable-radius, 0.5rem);
  display: block; container-type: inline-size; background: var(--_paper); color: var(--_ink);
  color-scheme: light;
  font-family: var(--deniable-font, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif);
  font-size: 1rem; line-height: 1.5; text-align: start;
}
@media (prefers-color-scheme: dark) {
  :host {
    --_ink: var(--deniable-ink, #e8ecf0);
    --_muted: var(--deniable-muted, #a3adb8);
    --_paper: var(--deniable-paper, #14181d);
    --_wash: var(--deniable-wash, #1c2229);
    --_line: var(--deniable-line, #6b7682);
    --_rule: var(--deniable-rule, #38414b);
    --_accent: var(--deniable-accent, #6fc9d4);
    --_on-accent: var(--deniable-on-accent, #0b1a1d);
    --_accent-soft: var(--deniable-accent-soft, #1f444a);
    --_accent-wash: var(--deniable-accent-wash, #182a2d);
    --_warn: var(--deniable-warn, #f0b35c);
    --_bad: var(--deniable-bad, #ff8d97);
    color-scheme: dark;
  }
}
:host([hidden]) { display: none; }
*, *::before, *::after { box-sizing: border-box; }
[hidden] { display: none !important; }
.unseen { position: absolute; inline-size: 1px; block-size: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); }

/* A survey's words may be longer than any screen is wide, and a letter may carry more accents than fit beside it. */
.view { overflow-wrap: anywhere; overflow-x: clip; margin-inline: -0.5rem; padding-inline: 0.5rem; } /* room for focus */
h2, h3, p, ul, ol, dl, dd, fieldset, legend, table { margin: 0; padding: 0; }
h2 { font-size: 1.3125rem; line-height: 1.3; margin-block: 2rem 0.5rem; }
h2.survey-title { font-size: 1.6875rem; line-height: 1.2; margin-block: 1.25rem 0.25rem; }
h2.running-title { font-size: 0.9375rem; font-weight: 600; color: var(--_muted); margin-block: 0; }
.view > h2:first-child, [role="alert"] > h2:first-child { margin-block-start: 0; }
h3 { font-size: 1.0625rem; line-height: 1.4; }
p { margin-block: 0.5rem; }
ul { padding-inline-start: 1.25rem; }
ol { padding-inline-start: 1.625rem; }
.hint { color: var(--_muted); }
.notice, .closing { white-space: pre-line; }
.who-asks { display: flex; align-items: center; gap: 0.75rem; margin: 0; color: var(--_muted); font-size: 0.9375rem; }
.who-asks img { flex: none; block-size: 2.5rem; max-inline-size: 8rem; object-fit: contain; }
.promise, .closing { padding: 1rem; border-radius: var(--deniable-radius, 1rem); background: var(--_accent-wash); margin-block: 1rem; }
.promise > p { margin-block: 0; }
.promise > p + p { margin-block-start: 0.5rem; }
.weak-promise { border: 2px solid var(--_warn); background: none; }
.coin-picture, .faces { display: flex; align-items: center; justify-content: space-between; gap: 0.25rem; }
.coin-picture {
  margin-block-end: 0.75rem; font-size: 0.75rem; line-height: 1.15; color: var(--_accent); overflow-wrap: normal;
}
.coin-picture > span {
  display: grid; place-items: center; min-block-size: 4.5rem; inline-size: 4.5rem; flex: none; text-align: center;
  font-weight: 600; border: 3px solid currentcolor; border-radius: 50%;
}
.coin-picture > .sent {
  inline-size: auto; flex: 0 1 7rem; border: 2px dashed var(--_line); border-radius: 0.75rem; color: var(--_muted);
}
.arrow { flex: none; inline-size: 1.5rem; fill: none; stroke: var(--_line); stroke-width: 2; }
.view[dir="rtl"] :is(.arrow, .bar, .people, .scale) { transform: scaleX(-1); }
.more { display: flex; flex-direction: column; align-items: center; margin-block: 0; }
.more button, .languages { text-align: center; }
select {
  font: inherit; min-block-size: 2.75rem; padding: 0.375rem 0.75rem; color: var(--_ink); background: var(--_paper);
  border: 1px solid var(--_line); border-radius: var(--_radius);
}
table.who { inline-size: 100%; border-collapse: collapse; }
.who th, .who td {
  padding-block: 0.625rem; border-block-end: 1px solid var(--_rule); text-align: start; vertical-align: top;
  font-weight: 400;
}
.who td { inline-size: 48%; padding-inline-start: 0.75rem; font-weight: 600; color: var(--_accent); }
.digest { overflow-wrap: anywhere; }
.try { margin-block: 1.25rem; padding: 1rem; border: 1px solid var(--_rule); border-radius: var(--deniable-radius, 1rem); }
.try fieldset { border: 0; min-inline-size: 0; }
.try .options { clear: both; }
.try h3 { margin-block-end: 0.5rem; }
.try input[type="range"] { inline-size: 100%; accent-color: var(--_accent); min-block-size: 2.75rem; margin: 0; }
.faces { margin-block: 0.75rem; }
.face {
  display: grid; place-items: center; flex: none; overflow-wrap: normal; inline-size: 4.75rem; block-size: 4.75rem; border-radius: 50%; text-align: center;
  border: 3px solid var(--_accent); color: var(--_accent); font-weight: 600; font-size: 0.9375rem;
}
@container (max-inline-size: 20rem) {
  .face { inline-size: 4rem; block-size: 4rem; font-size: 0.875rem; }
}
/* A phone at 200% zoom. */
@container (max-inline-size: 15rem) {
  .faces, .coin-picture, .answers > li { flex-direction: column; }
  .coin-picture > .sent { flex: none; padding-inline: 0.5rem; }
  .view .faces .arrow, .view .coin-picture .arrow { transform: rotate(90deg); }
  .view .answers > li { gap: 0; }
  .view .who, .view .who :is(tbody, tr, th, td) { display: block; inline-size: auto; padding-inline: 0; }
  .view .who th { padding-block-end: 0; border: 0; }
}
.face.sent { border-radius: 0.75rem; border-style: dashed; }
.face.idle { opacity: 0.45; }
.face.thrown { animation: throw 0.5s; }
@keyframes throw { 50% { transform: rotateY(90deg); } }
.result { min-block-size: 4.5em; }
.people { fill: var(--_rule); inline-size: 100%; }
.people .yes { fill: var(--_accent); }
.scale { inline-size: 100%; overflow: visible; }
.scale .line { stroke: var(--_line); stroke-width: 2; }
.scale .truth { stroke: var(--_ink); stroke-width: 3; }
.scale .said { fill: var(--_paper); stroke: var(--_muted); stroke-width: 3; }
.scale .estimate { fill: var(--_accent); }
.gone { display: none; }
.mark { font-size: 3.25rem; line-height: 1; color: var(--_accent); text-align: center; }
.thanks > h2 { text-align: center; font-size: 1.6875rem; margin-block-start: 0.5rem; }
.thanks > .status.good { text-align: center; background: none; border: 0; color: var(--_muted); padding: 0; }
.thanks summary, .thanks .actions { display: flex; justify-content: center; }
h2.openly { color: var(--_warn); }
/* A text in another direction than the page's runs its own way, and still stands on the page's side. */
[dir="auto"] { text-align: -webkit-match-parent; text-align: match-parent; }
.note, .summary:not(:empty), .total, .status:not(:empty), .message [role="alert"] {
  padding: 0.75rem 1rem; border-radius: var(--_radius); background: var(--_wash);
  border: 1px solid var(--_rule); border-inline-start: 4px solid var(--_line);
}
.summary ul { list-style: none; padding: 0; }
.total { margin-block-start: 2rem; }
.total > :first-child { margin-block: 0 0.25rem; font-size: 1.0625rem; }
.summary:not(:empty), .status.bad, .message [role="alert"] { border-inline-start-color: var(--_bad); }
.status.good { border-inline-start-color: var(--_accent); }
.status.waiting { border-inline-start-color: var(--_warn); }

:focus-visible, h2:focus { outline: 3px solid var(--_accent); outline-offset: 2px; border-radius: 2px; }
h2:focus:not(:focus-visible), [role="alert"] > h2:focus { outline: none; } /* an alert has a frame of its own */
/* What gets the focus must not lie below the progress line. */
input, button, summary, fieldset, h2 { scroll-margin-block: 5.5rem 2rem; }

.progress {
  position: sticky; inset-block-start: 0; z-index: 1; display: flex; flex-wrap: wrap; align-items: center;
  gap: 0.25rem 1rem; padding-block: 0.625rem; background: var(--_paper);
  border-block-end: 1px solid var(--_rule); font-variant-numeric: tabular-nums;
}
progress {
  flex: 1 1 8rem; block-size: 0.5rem; border: 1px solid var(--_line); border-radius: 1rem; overflow: hidden;
  appearance: none; background: var(--_paper); color: var(--_accent);
}
progress::-webkit-progress-bar { background: var(--_paper); }
progress::-webkit-progress-value { background: var(--_accent); transition: inline-size 0.2s; }
progress::-moz-progress-bar { background: var(--_accent); }

/* Browsers let a fieldset grow with its longest word unless its least size is set. */
fieldset.question { min-inline-size: 0; margin-block: 1.5rem; padding: 0; border: 0; }
fieldset.question.wrong { padding-inline-start: 1rem; border-inline-start: 4px solid var(--_bad); }
/* Afloat, or the fieldset's border would start beside the legend's middle. */
legend { float: inline-start; inline-size: 100%; padding-block-end: 0.75rem; }
.question h3 { font-size: 1.375rem; line-height: 1.3; }
.question > :not(legend) { clear: both; }
.question > .hint, .error { margin-block: 0 0.5rem; }
.error { color: var(--_bad); font-weight: 600; }
.options { display: grid; gap: 0.5rem; margin-block: 0 0.625rem; }
.option {
  display: flex; align-items: flex-start; gap: 0.75rem; min-block-size: 3.25rem; min-inline-size: 0;
  padding: 0.8125rem 1rem; border: 1px solid var(--_line); border-radius: var(--deniable-radius, 0.875rem); cursor: pointer;
}
.option > span { min-inline-size: 0; }
.option:has(:checked) {
  background: var(--_accent-soft); border-color: var(--_accent); box-shadow: inset 0 0 0 1px var(--_accent);
}
.option:has(:focus-visible), .wrong .option:has(:focus) { outline: 3px solid var(--_accent); outline-offset: 2px; }
.option input {
  flex: none; inline-size: 1.25rem; block-size: 1.25rem; margin-block: 0.125rem; margin-inline: 0;
  accent-color: var(--_accent);
}
/* Its whole label has the outline. */
.option input:focus-visible { outline: none; }
b.point { font-variant-numeric: tabular-nums; margin-inline-end: 0.25rem; }
@container (min-inline-size: 30rem) {
  .options.short { grid-auto-flow: column; grid-auto-columns: minmax(0, 1fr); }
  .options.many { grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr)); }
}
@container (min-inline-size: 40rem) {
  .options.scale { grid-auto-flow: column; grid-auto-columns: minmax(0, 1fr); }
  .options.scale .option { display: grid; grid-template-columns: auto 1fr; gap: 0.25rem 0.5rem; align-content: start; }
  .options.scale .option > span { display: contents; }
  .options.scale .option > span > span { grid-column: 1 / -1; }
}
.entry { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.75rem; margin-block: 0.375rem 0.625rem; }
.entry input {
  font: inherit; inline-size: 12rem; max-inline-size: 100%; min-block-size: 2.75rem; padding: 0.5rem 0.75rem;
  color: var(--_ink); background: var(--_paper); border: 1px solid var(--_line); border-radius: var(--_radius);
}
.entry input[aria-invalid] { border-color: var(--_bad); box-shadow: inset 0 0 0 1px var(--_bad); }
.invitation label { font-weight: 600; }
.invitation .entry input { inline-size: 100%; font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.reasons { padding-inline-start: 1.25rem; margin-block: 1.5rem 0; color: var(--_muted); }
.reasons code { white-space: nowrap; }
details > .reasons { margin-block-start: 0.25rem; }
.unit { color: var(--_muted); min-inline-size: 0; }
.number > label { display: block; color: var(--_muted); }

.protection > details { margin-block-start: -0.75rem; } /* "How?" is a large target around a short word */
.protection { font-size: 0.9375rem; color: var(--_muted); }
.weak, .hint strong { color: var(--_warn); font-weight: 600; }
summary {
  display: inline-flex; align-items: center; min-block-size: 2.75rem; color: var(--_accent); cursor: pointer;
  text-decoration: underline; text-underline-offset: 0.2em;
}
details[open] { padding-block-end: 0.5rem; border-block-end: 1px solid var(--_rule); }
.chances { inline-size: 100%; max-inline-size: 40rem; border-collapse: collapse; }
.chances th { inline-size: 40%; text-align: start; font-weight: 400; }
.chances th, .chances td { padding-block: 0.25rem; padding-inline-end: 0.75rem; vertical-align: middle; }
.chances .picture { inline-size: 22%; }
@container (min-inline-size: 30rem) {
  .chances .picture { inline-size: 30%; }
  .figure { white-space: nowrap; }
}
.figure { font-variant-numeric: tabular-nums; color: var(--_ink); }
.bar { display: block; inline-size: 100%; block-size: 0.625rem; }
.bar-rest { fill: var(--_rule); }
.bar-share { fill: var(--_accent); }

.actions { display: flex; flex-wrap: wrap; align-items: center; gap: 0.75rem; margin-block: 1.5rem 0.5rem; }
.form .actions { flex-direction: row-reverse; justify-content: space-between; }
.wide button { flex: 1; }
button {
  font: inherit; font-weight: 600; min-block-size: 3.25rem; padding: 0.5rem 1.5rem; color: var(--_on-accent);
  background: var(--_accent); border: 1px solid var(--_accent); border-radius: var(--deniable-radius, 0.875rem); cursor: pointer;
}
button:disabled { opacity: 0.6; cursor: progress; }
button.quiet { color: var(--_accent); background: var(--_paper); }
button.link {
  min-block-size: 2.75rem; padding: 0.25rem 0; color: var(--_accent); background: none; border-color: transparent; font-weight: 400;
  text-align: start; text-decoration: underline; text-underline-offset: 0.2em;
}
/* Not where a finger leaves it behind, nor on paper: an option would look as if it was chosen. */
@media screen and (hover: hover) {
  .option:not(:has(:checked)):hover { background: var(--_wash); }
  button:hover { box-shadow: inset 0 0 0 2px var(--_on-accent); }
  button.quiet:hover { box-shadow: inset 0 0 0 1px var(--_accent); }
  button.link:hover { box-shadow: none; text-decoration-thickness: 2px; }
}

.answers { list-style: none; padding: 0; margin-block: 1rem; border-block-start: 1px solid var(--_rule); }
.answers > li {
  display: flex; justify-content: space-between; gap: 1rem; padding-block: 0.625rem;
  border-block-end: 1px solid var(--_rule);
}
.answers > li > div { min-inline-size: 0; }
.answers h3 { font-weight: 400; font-size: 1rem; }
.answers .answer { font-size: 1.125rem; font-weight: 600; margin-block: 0.125rem; }
.answers button { flex: none; white-space: nowrap; }
.answers .hint { font-size: 0.9375rem; margin-block: 0.25rem 0; }

table.receipt { inline-size: 100%; border-collapse: collapse; margin-block: 1rem; }
.receipt th, .receipt td {
  padding: 0.75rem 0.875rem 0.75rem 0; padding-inline: 0 0.875rem; text-align: start; vertical-align: top;
  border-block-end: 1px solid var(--_rule);
}
.receipt thead th {
  border-block-end: 2px solid var(--_line); color: var(--_muted); font-weight: 600; overflow-wrap: break-word;
}
.receipt tbody th { font-weight: 400; }
.receipt td.left { font-weight: 600; }
.receipt li + li { margin-block-start: 0.25rem; }
.receipt td.why { color: var(--_muted); }
.raw { display: block; font-weight: 400; color: var(--_muted); }
.cell-label { display: none; }
code {
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.875rem;
  overflow-wrap: anywhere;
}
.facts dt { color: var(--_muted); margin-block-start: 0.5rem; }
@container (min-inline-size: 40rem) {
  .receipt th.question { inline-size: 28%; }
  .receipt th.left { inline-size: 32%; }
}
@container (max-inline-size: 39.99rem) {
  .receipt thead { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); }
  .receipt, .receipt tbody, .receipt tr, .receipt tbody th, .receipt td { display: block; inline-size: auto; }
  .receipt tr { padding-block: 0.75rem; border-block-end: 1px solid var(--_rule); }
  .receipt tbody th, .receipt td { padding: 0.125rem 0; border: 0; }
  .receipt tbody th { font-weight: 600; }
  .cell-label {
    display: block; margin-block-start: 0.375rem; font-size: 0.875rem; font-weight: 400; color: var(--_muted);
  }
}

@media (prefers-reduced-motion: reduce) {
  *, *::before, *::after {
    transition: none !important; animation: none !important; scroll-behavior: auto !important;
  }
}
@media (forced-colors: active) {
  .option:has(:checked) { outline: 2px solid Highlight; outline-offset: -2px; }
  .option:has(:focus-visible) { outline: 3px solid Highlight; outline-offset: 2px; }
  .bar-rest { fill: Canvas; stroke: CanvasText; }
  .bar-share { fill: CanvasText; }
  progress, progress::-webkit-progress-value { forced-color-adjust: none; }
  progress { border-color: CanvasText; background: Canvas; }
  progress::-webkit-progress-bar { background: Canvas; }
  progress::-webkit-progress-value { background: Highlight; }
}
/* True answers stay off paper: a print-out outlives the page. */
@media print {
  .progress, .actions, .answers, .try, .unseen { display: none !important; }
  /* Which questions were shown depends on the answers: on paper all of them are. */
  .form .question[hidden], .form .openly[hidden] { display: block !important; }
  .form input { visibility: hidden; }
  .option:has(:checked) { background: none; border-color: var(--_line); box-shadow: none; outline: none; }
  .receipt tr { break-inside: avoid; }
}
`,W;function Ke(){return W||(W=new CSSStyleSheet,W.replaceSync(Tt)),W}function Ze(t,e){let n=s=>s.toLowerCase().split("-")[0];for(let s of t){let o=e.filter(r=>n(r)===n(s));if(o[0])return o.find(r=>r.toLowerCase()===s.toLowerCase())??o[0]}return e[0]}var qt=["question","left","why"];function st({client:t,receipt:e,texts:n}){let{survey:s,parts:o,account:r}=t,a=g(n.say("button.save"),()=>Wt(t,e,n),{class:"quiet"}),c=g(n.say("button.print"),()=>window.print(),{class:"quiet"}),l=[...o.map((d,p)=>{let m=e.reports[p],f=t.questions.filter(({id:b})=>d.items.some(({question:y})=>y.id===b));return tt(n,{question:et(f.map(({text:b})=>b)),left:nt(et(te(d,m,n)??[ne(d,m,n)],"ul"),n.say("receipt.raw",{report:m})),why:Ue(d,m,n)})}),...(s.segments??[]).map(d=>{let p=e.segments[d.id],{text:m}=d.options.find(f=>f.code===p);return tt(n,{question:w("span",d.text),left:nt(w("span",m),n.say("receipt.code",{code:p})),why:n.say("receipt.openly")})})],u=k(r)==="fair",h={id:e.id,digest:e.digest,spent:S(r)};return[i("p",{class:u?"":"weak"},n.say(u?"receipt.calm":"receipt.weak")),i("table",{class:"receipt",part:"receipt",role:"table"},i("thead",{role:"rowgroup"},i("tr",{role:"row"},...qt.map(d=>i("th",{role:"columnheader",scope:"col",class:d},n.say(`receipt.${d}`))))),i("tbody",{role:"rowgroup"},...l)),i("p",{},E(r,n)),i("dl",{class:"facts"},...Object.entries(h).flatMap(([d,p])=>[i("dt",{},n.say(`receipt.${d}`)),i("dd",{},i("code",{dir:"ltr"},p))])),i("p",{class:"hint"},n.say("receipt.keep")),i("p",{class:"actions"},a," ",c)]}var et=(t,e="ol")=>t.length>1?i(e,{},...t.map(n=>w("li",n))):w("span",t[0]);function tt(t,e){return i("tr",{role:"row"},...Object.entries(e).map(([n,s])=>{let o=n==="question",r=o?null:i("span",{class:"cell-label","aria-hidden":"true"},t.say(`receipt.${n}`)),a=i("div",{},s);return i(o?"th":"td",{role:o?"rowheader":"cell",scope:o?"row":null,class:n},r,a)}))}var nt=(t,e)=>i("div",{},t,i("code",{class:"raw"},e));function Wt(t,e,n){let{survey:s,parts:o}=t,r={about:n.say("receipt.file"),survey:s.id,title:s.title,id:e.id,digest:e.digest,epsilon:e.epsilon,delta:e.delta,booklet:e.booklet,reports:e.reports,segments:e.segments,in_words:o.map((l,u)=>({questions:l.questions,sent:ne(l,e.reports[u],n).replace(/[\u2068\u2069]/g,"")}))},a=URL.createObjectURL(new Blob([`${JSON.stringify(r,null,2)}
`],{type:"application/json"}));i("a",{href:a,download:`deniable-receipt-${s.id}.json`}).click(),setTimeout(()=>URL.revokeObjectURL(a),6e4)}function Ut({status:t,refused:e,reached:n},{persistent:s},o){if(e)return["bad",o.say("failure.refused.title"),o.say("status.refused",e)];if(t==="expired")return["bad",o.say("failure.expired.title"),o.say("failure.expired.text")];if(t==="delivered")return["good",o.say("status.thanks"),o.say("status.thanksText")];let r=o.say(n?"status.waitingServer":"status.waiting"),a=o.say(s?"status.comeBack":"status.stay");return["waiting",o.say("status.waitingTitle"),`${r} ${a}`]}function ot({client:t,receipt:e,texts:n,before:s,heading:o,actions:r,isShown:a,onSettled:c}){let l=i("p",{role:"status"}),u=i("div",{class:"mark","aria-hidden":"true"}),h=()=>{if(!a())return clearInterval(d);let[m,f,b]=Ut(e,t,n);o.textContent!==f&&(o.textContent=f),l.textContent!==b&&(l.textContent=b),l.className=`status ${m}`,u.textContent=m==="good"?"✓":"",m!=="waiting"&&(clearInterval(d),c())},d=setInterval(h,1e3);h(),e.settled?.then(h);let{closing:p}=t.survey;return[u,o,s?i("p",{},n.say("status.before")):null,l,p?w("p",p,{class:"closing"}):null,s?null:Rt(t,e,n),i("p",{class:"actions"},...r)]}function Rt(t,e,n){try{let s=i("summary",{},n.say("button.see"));return i("details",{class:"what-was-sent"},s,...st({client:t,receipt:e,texts:n}))}catch(s){return console.error(s),null}}var U=new WeakMap,Dt=6e4;function Pn(t,e){U.get(t)?.stop();let n=new ae(t,e);U.set(t,n),n.load()}function Hn(t){U.get(t)?.stop(),U.delete(t)}function it(t){let e=t.getAttribute("src")??"";if(e.includes("#")||!URL.canParse(e,document.baseURI))return e;let{origin:n,pathname:s}=new URL(e,document.baseURI);return n!==location.origin||s!==location.pathname?e:e+/#.*|$/s.exec(location.href)[0]}function Ft(t,e){if(e.reason===void 0)return void console.error(e);if(!["address","unreachable"].includes(e.reason))return;let n=t.hasAttribute("src")?e.message:"the attribute src is missing";console.error(`<deniable-survey>: ${n}. What it should look like: <deniable-survey src="https://survey.example.org/s/campus-health">, with your server and your survey.`,t)}var rt=t=>t.preventDefault(),ae=class{#t;#l;#n;#e;#i="en";#m;#r=null;#s=null;#a=null;#b=null;#d=!1;#u=null;#h=null;#c=0;#z=!1;#v=new AbortController;constructor(e,n){this.#t=e,this.#l=n,this.#n=e.shadowRoot,this.#n.adoptedStyleSheets=[Ke()];let{signal:s}=this.#v;window.addEventListener("pagehide",()=>this.#C(),{signal:s}),window.addEventListener("pageshow",o=>o.persisted&&this.#C(),{signal:s}),window.addEventListener("hashchange",()=>this.#k(),{signal:s});for(let o of["input","change"])this.#n.addEventListener(o,()=>this.#$(),{signal:s})}stop(){this.#c++,this.#v.abort(),this.#A(),this.#n.replaceChildren()}#k(){let e=it(this.#t),n=this.#r?.digest,[,s=n]=e.split("#");e!==this.#m&&!(n&&s.toLowerCase()===n)&&this.load()}async load(e){let n=++this.#c,s=this.#t,o=this.#n.activeElement!==null;this.#A();let r=await Q(this.#w([])[0],s.texts).catch(()=>null);if(n===this.#c){if(!r)return void this.#l.fail();[this.#e,this.#i]=[r,r.language],this.#p("message",i("p",{role:"status"},this.#o("loading"))),this.#m=it(s);try{let a=s.budget??s.getAttribute("budget")?.split(" "),c=await this.#l.Client.load(this.#m,{budget:a,invitation:e}),l=s.hasAttribute("kiosk")&&c.receipt&&c.receipt.status!=="waiting";if(l&&await c.forget(),n!==this.#c)return;if(l)return void this.load();Je(),this.#r=c;let{languages:u}=c,h=Ze(this.#w(u),u)??r.language;if(await this.#_(h,s.getAttribute("lang")||h),n!==this.#c)return;let{survey:d,digest:p,closed:m,opens:f,receipt:b}=c;this.#f("ready",{survey:d,digest:p,closed:m,opens:f,receipt:b}),b?this.#x(b,{before:!0}):m?this.#S("closed"):f?this.#S("not_open",{time:this.#e.time(f)}):this.#N(),o&&!b&&this.#y()}catch(a){if(n!==this.#c||a.place==="invitation"&&this.#U(a.reason,e))return;Ft(s,a),this.#I(a,"tampered")}}}#w(e){let n=this.#t.getAttribute("lang");return n?[n]:e.length?navigator.languages:[this.#t.closest("[lang]")?.lang||"en"]}async#_(e,n=e){this.#i=this.#r.useLanguage(e)??e,this.#e=await Q(n,this.#t.texts);let{title:s}=this.#r.survey;this.#f("language",{language:this.#i,direction:M(this.#i),title:s})}#o(e,n){return this.#e.say(e,n)}#f(e,n){this.#t.dispatchEvent(new CustomEvent(`deniable-${e}`,{detail:n,bubbles:!0,composed:!0}))}#p(e,...n){let{language:s}=this.#e;this.#h=i("div",{class:`view ${e}`,part:e,lang:s,dir:M(s)},...n);for(let o of this.#h.querySelectorAll("[dir=auto]"))o.lang=this.#i;this.#n.replaceChildren(this.#h)}#g(e){return i("h2",{tabindex:"-1"},e)}#E(e){return w("h2",this.#r.survey.title,{class:e,tabindex:"-1"})}#y(){this.#h.querySelector("h2").focus({preventScroll:!0}),this.#t.scrollIntoView({block:"start"})}#A(){this.#a?.stop(),this.#a=null,this.#O(),this.#u=this.#r=null,this.#d=!1}#O(){this.#s?.clear(),this.#s=null,this.#$()}#$(){let e=this.#s?.begun??!1;e!==this.#z&&(this.#z=e,e?window.addEventListener("beforeunload",rt):window.removeEventListener("beforeunload",rt))}#C(){this.#s?.clear(),this.#u?this.#x(this.#u,{before:!0}):this.#d?this.#p("message",i("p",{role:"status"},this.#o("status.sending"))):this.#s&&this.#N()}#U(e,n){let s=e==="missing"?null:e;if(s&&!this.#e.has(`invitation.${s}`))return!1;let o=this.#g(this.#o("invitation.title")),r=a=>this.load(a);return this.#p("invitation",...He({texts:this.#e,heading:o,problem:s,typed:n,onCode:r})),s&&this.#f("failed",{reason:`invitation-${s}`}),n!==void 0&&this.#h.querySelector("input").focus(),!0}#N(){this.#a?.stop(),this.#a=new q(e=>this.#D(e)),this.#j(),this.#M()}#j(){this.#s=new T({client:this.#r,shownQuestions:this.#l.shownQuestions,texts:this.#e,onePage:this.#t.hasAttribute("one-page"),onNext:()=>this.#R(),onBack:()=>this.#a.back()}),this.#$()}#R(){let{screen:e,change:n}=this.#a.current;n?this.#a.back():this.#a.open(e+1<this.#s.length?e+1:"review")}#D({screen:e,change:n}){!this.#s||this.#d||(e==="start"?this.#M():e==="how"?this.#L("how.title",pe(this.#e)):e==="who"?this.#L("who.title",this.#B()):e==="review"?this.#T():this.#V(e,n),typeof e=="number"?this.#F():this.#y())}#F(){this.#t.scrollIntoView({block:"start"}),this.#b?this.#s.focus(this.#b):this.#s.focusQuestion()}#M(){let e=o=>()=>this.#a.open(o),n={start:e(0),how:e("how"),who:e("who"),speak:async o=>{await this.#_(o),this.#s.clear(),this.#j(),this.#M(),this.#h.querySelector("select").focus()}},s=this.#E("survey-title");this.#p("start",...Ye({client:this.#r,texts:this.#e,host:this.#t,language:this.#i,heading:s,actions:n}))}#B(){let e=this.#m.split("#")[1]?.toLowerCase().startsWith(this.#r.digest);return Xe({client:this.#r,texts:this.#e,pinned:e})}#L(e,n){let s=g(this.#o("button.close"),()=>this.#a.back());this.#p("more-view",this.#g(this.#o(e)),...n,i("p",{class:"actions wide"},s))}#V(e,n){this.#s.show(e,n),this.#p("form",this.#E("running-title"),this.#s.progress,this.#s.node)}#T(){let e=this.#s.firstMissing();if(e>=0)return void this.#a.open(e);let{questions:n}=this.#r,s=this.#s.values(),o=n.filter(({id:u})=>Object.hasOwn(s,u)),r=u=>{this.#b=u,this.#a.open(this.#s.stepOf(u),!0),this.#b=null},a=i("p",{class:"status",role:"status"}),c=g(this.#o("button.send"),()=>this.#P(a)),l=g(this.#o("button.back"),()=>this.#a.back(),{class:"quiet"});this.#p("review",this.#g(this.#o("section.review")),...Ve({client:this.#r,questions:o,values:s,texts:this.#e,onChange:r}),a,i("p",{class:"actions"},c," ",l))}async#P(e){let[n,s]=[this.#r,this.#c];if(this.#d||!this.#s)return;let o=this.#s.values(),r=l=>Object.fromEntries(l.filter(({id:u})=>Object.hasOwn(o,u)).map(({id:u})=>[u,o[u]]));this.#d=!0;for(let l of this.#h.querySelectorAll("button"))l.disabled=!0;e.textContent=this.#o("status.sending");let a,c;try{a=await n.submit(r(n.questions),r(n.survey.segments??[]))}catch(l){c=l}s===this.#c&&(this.#d=!1,a?(this.#f("submitted",{receipt:a}),this.#x(a),this.#y()):c.reason==="already_answered"&&c.receipt?(this.#f("failed",{reason:c.reason}),this.#x(c.receipt,{before:!0}),this.#y()):this.#I(c,"unexpected","unsure"))}#x(e,{before:n=!1}={}){this.#O(),this.#a?.end(),this.#a=null,this.#u=e;let{status:s}=e;if(n&&s!=="waiting")return this.#S(["refused","expired"].includes(s)?s:"already_answered");let o=this.#c,r=this.#t.hasAttribute("kiosk"),a=()=>o===this.#c&&this.#u===e,c=()=>a()&&this.load(),l=g(this.#o("kiosk.next"),c,{disabled:!0}),u=i("span",{class:"hint"},this.#o("kiosk.wait")),h=()=>{l.disabled=!1,u.remove(),r&&setTimeout(c,Dt)},d=r?[l,u]:[this.#q()],p=this.#g(""),[m,f]=[this.#r,this.#e];this.#p("thanks",...ot({client:m,receipt:e,texts:f,before:n,heading:p,actions:d,isShown:a,onSettled:h}))}#q(){return g(this.#o("button.remove"),()=>this.#H(),{class:"quiet"})}#H(){let e=this.#u,n=e.status==="waiting",s=g(this.#o("button.removeNow"),()=>this.#G(n)),o=g(this.#o("button.keep"),()=>this.#x(e,{before:!0}),{class:"quiet"}),r=[n?"remove.unsent":"remove.sent","remove.again"].map(a=>this.#o(a));this.#W("remove.title",r,[s,o])}#W(e,n,s=[]){this.#p("message",this.#g(this.#o(e)),...n.map(o=>i("p",{},o)),i("p",{class:"actions"},...s)),this.#y()}async#G(e){let n=this.#c;try{if(await this.#r.forget({unsent:e}),n!==this.#c)return;this.#u=null,this.#W("remove.doneTitle",[this.#o("remove.done")]),this.#f("removed",{})}catch(s){n===this.#c&&this.#I(s,"unexpected")}}#I(e,n,s="unexpected"){let{reason:o}=e,r=o===void 0?s:this.#e.has(`failure.${o}.title`)?o:n;this.#f("failed",{reason:o??"unexpected"}),this.#S(r)}#S(e,n){let s=["closed","refused","expired","already_answered","unsure"].includes(e),o=[];this.#s&&!s?o.push(g(this.#o("button.answers"),()=>{this.#T(),this.#y()})):["unreachable","storage","unexpected","unsure","not_open"].includes(e)&&o.push(g(this.#o("button.again"),()=>this.load())),this.#u&&o.push(this.#q());let r=!!this.#s,a=document.activeElement===document.body;s&&this.#O(),this.#p("message",i("div",{role:"alert"},this.#g(this.#o(`failure.${e}.title`,n)),i("p",{},this.#o(`failure.${e}.text`))),o.length?i("p",{class:"actions"},...o):null),r?this.#y():a&&this.#h.querySelector("h2").focus({preventScroll:!0})}};export{Pn as connect,Hn as disconnect};
